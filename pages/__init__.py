"""PAGES: the pages in their order. A new page is its file, its line here and its text file.

Each page file ends by calling app.main() when it is run as a script. Streamlit does that when the
first request after the server's start is a deep link such as /score: it then takes the folder
pages/ for its older kind of app and runs that one file. The tail makes that the whole app.
"""

from pages import (
    blend,
    break_it,
    check,
    clinic,
    code,
    heads,
    mask,
    real_heads,
    scale,
    score,
    softmax,
    start,
    teach,
    your_tensors,
)
from ui.frame import Page

PAGES = (
    Page("start", "Pipeline", "all", start.render),
    Page("score", "Score", "score", score.render),
    Page("scale", "Scale", "scale", scale.render),
    Page("softmax", "Softmax", "softmax", softmax.render),
    Page("blend", "Blend", "blend", blend.render),
    Page("mask", "Mask", "mask", mask.render),
    Page("heads", "Heads", "heads", heads.render),
    Page("break_it", "Break it", "all", break_it.render),
    Page("code", "Code", "all", code.render),
    Page("check", "Check yourself", "all", check.render),
    Page("real_heads", "Real heads", "heads", real_heads.render, own_inputs=True),
    Page("your_tensors", "Your tensors", "heads", your_tensors.render, own_inputs=True),
    Page("clinic", "Clinic", "all", clinic.render, own_inputs=True),
    Page("teach", "Teach", "all", teach.render),
)
