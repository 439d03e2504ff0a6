"""What hostile or unlucky people write, for every place that shows a word which is not ours."""

SCRIPTS = (
    "<script>window.struck=1</script>",
    "<img src=x onerror=window.struck=1>",
    '"><svg onload=window.struck=1>',
    "<a href='javascript:window.struck=1'>x</a>",
    "[x](javascript:window.struck=1)",
    "![x](http://127.0.0.1:9/x.png)",
    "</textarea><iframe srcdoc='<script>parent.struck=1</script>'>",
)
MARKUP = (
    "**bold**",
    "# h",
    "| a | b |",
    "`x`",
    "$\\frac{1}{2}$",
    "$$x$$",
    ":material/home:",
    ":red[x]",
    ":smile:",
    "<b>b</b>",
    "&lt;b&gt;",
    "%{x}",
    "{{x}}",
    "\\(x\\)",
)
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://127.0.0.1:9")', "|calc")
STRANGE = (
    "",
    " ",
    "\u202egnirts",  # the rest of the line runs backwards
    "\u2066\u202e",
    "a\u200bb\u200d\ufeff",  # nothing to see
    "Z" + "\u0351\u0325" * 40,  # a storm of accents
    "\u05e9\u05dc\u05d5\u05dd",
    "W" * 100,
    "\x00\x1b[31m",
    "\ud800",
    "\n\n# x",
    "../../etc/passwd",
    "C:\\x\\y.npz",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
)
HOSTILE = (*SCRIPTS, *MARKUP, *FORMULAS, *STRANGE)
