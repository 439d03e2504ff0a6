"""Whatever stands in the address, no page shows an exception: the default, or a sentence."""

import io
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from core.capture_fields import MAX_NUMBER, MAX_SCALING
from core.clinic.samples import SAMPLES
from core.faults.broken import SHOWN
from core.grammar import SENTENCES
from core.offered import D_KS, GIVEN, HEADS, MASKS
from core.quiz import POLLS
from core.real import REAL
from pages import PAGES
from tests.browser.server import ROOT
from tests.hostile import HOSTILE
from ui.clinic_input import ALIGNMENTS, CAUSAL, LAYOUT_OF, PRODUCTS, TRUE_MEANS, YES_NO
from ui.labs import blend, heads, mask, scale, softmax

SLUGS = [page.slug for page in PAGES]
FLAGS = ("true", "false", "1", "0")
INDICES = ("0", "1", "6", "63", "64", "511", "9999")
LABS = {"scale": scale, "softmax": softmax, "blend": blend, "mask": mask, "heads": heads}
SLOW = ("Training", "Cause", "Step sizes")  # they train models for seconds; they have tests of their own
# Every parameter of the address, with values that lead on to further inputs.
# fmt: off
PARAMETERS: dict[str, tuple] = {
    "example": ("kite", "needle", "random", "two_heads", *REAL),
    "seq_len": (2, 7, 9, 32, 64), "d_k": (*D_KS, 5), "mask": (*MASKS, GIVEN), "n_heads": HEADS,
    "head": (0, 1, 7, "all"), "seed": (0, 7, 9999), "n_pad": (1, 8), "window": (1, 8),
    "edits": ("q.0.4.0=5", "v.0.1.0=-3;k.0.0.0=1e9", "q.7.63.1023=1", "q.0.0.0=nan"),
    "sentence": (*SENTENCES.values(), "the kets", ".", "the " * 40),
    "real_head": ("L0H0", "L1H3", "L9H9", "5"),
    "row": INDICES, "col": INDICES, "channel": INDICES, "replace": ("the last", "0 The", "6 tired"),
    "part": ("Shapes", "Concatenate and project"), "twin": INDICES, "by_hand": FLAGS,
    "present": FLAGS, "notes": FLAGS, "broken": SHOWN[:8], "mystery": INDICES, "set": INDICES,
    "line": ("mask", "blend"), "version": ("torch", "module"), "fill_in": FLAGS,
    "off": ("L0H0", "L0H0,L1H1"), "fault": ("mask.missing", "scale.missing"), "cut": FLAGS,
    "other": REAL, "other_head": ("0", "8", "11"), "drawn": ("from q and k",),
    "sample": tuple(SAMPLES), "causal": tuple(CAUSAL),
    "mask_true": tuple(TRUE_MEANS), "layout": tuple(LAYOUT_OF), "num_heads": (1, 3, 4096),
    "num_kv_heads": (1, 2), "rope": tuple(YES_NO), "causal_alignment": tuple(ALIGNMENTS),
    "alibi": tuple(YES_NO), "weights_as": tuple(PRODUCTS), "factor": (0, 0.5, 1e5, "1e400", "nan"),
    "softcap": (0, 20, "nan"), "sink": (0, 1, "1e400"),
    "room": ("Plans", "Worksheet", "Poll"), "link_page": ("Softmax",), "link_present": FLAGS,
    "plan": ("20 minutes",), "sheet": INDICES, "poll": POLLS, "poll_seed": INDICES, "code": ("ABCDEF",),
    "lab_d_k": D_KS, "scale_on": FLAGS, "measure": ("median gradient",), "n_keys": (8, 64),
    "nudge": (0.01, 1.0), "lab_heads": HEADS, "train_d_k": (64, 256), "rate": (1.0, 10.0),
    "fetch_rate": (0.1, 1.0), "sweep_d_k": (64, 256), "optimiser": ("adam",), "hardness": (0.0, 10.0),
    "shift": (-1000, 1000), "format_row": ("the selected row",), "gap": (0.0, 20.0), "doubled": ("Q", "K"),
    "hull_x": INDICES, "hull_y": INDICES, "variant": ("0 after softmax",),
    "painted": ("0.0;6.6", "9.9", "1.-1"),
    "format": ("bfloat16", "float32"), "cost_len": (128, 2048), "cost_width": (64, 512), "mixing": (0.0, 1.0),
} | {f"{slug}_lab": tuple(lab for lab in room.LABS if lab not in SLOW) for slug, room in LABS.items()}
# fmt: on


IN_ADDRESS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)
HOSTILE_IN_ADDRESS = [text for text in HOSTILE if "\ud800" not in text]  # no address holds half a character
ENDLESS = ("inf", "-Infinity", "1e999")


def values(name: str) -> st.SearchStrategy[str]:
    """What may stand behind a name: what it knows, numbers of every kind, and what hostile people write."""
    numbers = st.one_of(st.integers(), st.floats()).map(str)
    known, hostile = st.sampled_from(PARAMETERS[name]).map(str), st.sampled_from(HOSTILE_IN_ADDRESS)
    return st.one_of(known, numbers, hostile, IN_ADDRESS)


ADDRESSES = st.fixed_dictionaries({}, optional={name: values(name) for name in PARAMETERS})


def opened(slug: str, parameters: dict[str, str]) -> AppTest:
    app = AppTest.from_file(ROOT / "app.py", default_timeout=60)
    app.query_params.update(parameters)
    return turned(app, slug)


def turned(app: AppTest, slug: str) -> AppTest:
    app._page_hash = calc_hash("" if slug == PAGES[0].slug else slug)
    return app.run()


def check(app: AppTest) -> None:
    assert not app.exception, [error.value for error in app.exception]


@settings(max_examples=20)
@given(ADDRESSES, st.sampled_from(SLUGS), st.sampled_from(SLUGS))
def test_no_address_shows_an_exception(parameters: dict, slug: str, following: str) -> None:
    app = opened(slug, parameters)
    check(app)
    check(turned(app, slug))
    check(turned(app, following))


@pytest.mark.parametrize("slug", SLUGS)
def test_numbers_without_end_leave_the_address(slug: str) -> None:
    boxes = ("row", "seed", "twin", "mystery", "set", "num_heads", "factor", "sheet", "poll_seed")
    app = opened(slug, {"seq_len": "9", "room": "Poll"} | dict.fromkeys(boxes, "1e999") | {"col": "inf"})
    check(app)
    assert dict(app.query_params) == {"seq_len": "9", "room": "Poll"}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_name_without_a_value_gives_the_default(slug: str) -> None:
    for lab in LABS[slug].LABS if slug in LABS else ("",):
        if lab in SLOW:
            continue
        usual = opened(slug, {f"{slug}_lab": lab})
        app = opened(slug, dict.fromkeys(bound(usual._tree) - {""}, "") | {f"{slug}_lab": lab})
        check(app)
        assert [(group.key, group.value) for group in app.button_group] == [
            (group.key, group.value) for group in usual.button_group
        ]
    check(opened(slug, {f"{slug}_lab": ""}))


def test_every_bound_input_is_tried() -> None:
    for slug in SLUGS:
        labs = LABS[slug].LABS if slug in LABS else ("",)
        for lab in (lab for lab in labs if lab not in SLOW):
            app = opened(slug, {"present": "true", f"{slug}_lab": lab, "mask": "causal+padding"})
            assert bound(app._tree) <= {"", *PARAMETERS}, (slug, lab)


def bound(node: object) -> set[str]:
    """The parameters of all inputs below a node of the page."""
    below = [bound(child) for child in getattr(node, "children", {}).values()]
    return set().union(*below, {getattr(getattr(node, "proto", None), "query_param_key", "")})


#: the one picture that the pages write themselves
OUR_QR_CODE = re.compile(r'<img alt="QR code of the address" src="data:image/svg\+xml;base64,[\w+/=]+">')


SIGNS = np.random.default_rng(0).choice((-1.0, 1.0), (2, 5, 4))
FILES = {
    "largest": dict.fromkeys("qkv", SIGNS * MAX_NUMBER) | {"scaling": MAX_SCALING},
    "in float32": dict.fromkeys("qkv", np.float32(SIGNS * MAX_NUMBER)) | {"scaling": -MAX_SCALING},
    "smallest": dict.fromkeys("qkv", SIGNS * 5e-324) | {"scaling": 0.0},
    "one of each": dict.fromkeys("qkv", SIGNS[:, :1, :1]),
    "not finite": dict.fromkeys("qkv", SIGNS)
    | {"out": SIGNS * np.inf, "weights": np.full((2, 5, 5), np.nan)},
}


@pytest.mark.parametrize("arrays", FILES.values(), ids=FILES)
def test_every_page_shows_a_file_of_extreme_numbers(arrays: dict) -> None:
    app = opened("your_tensors", {})
    give(app, npz(**arrays))
    for slug in ("your_tensors", *SLUGS):
        check(turned(app, slug))
        assert app.selectbox(key="example").value == "yours"


def test_what_a_file_holds_beside_q_k_v_may_be_no_number() -> None:
    app = opened("your_tensors", {})
    give(app, npz(q=SIGNS, k=SIGNS, v=SIGNS, out=SIGNS.astype(str)))
    assert "out must hold real numbers" in app.error[0].value
    give(app, npz(**FILES["not finite"]))
    assert "weights and output cannot be compared" in app.main.warning[0].value


def give(app: AppTest, file: bytes) -> None:
    app.main.get("file_uploader")[0].set_value([("mine.npz", file, "")]).run()
    check(app)


def npz(**arrays: object) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_hostile_words_of_a_file_are_escaped_on_every_page() -> None:
    q = np.ones((2, len(HOSTILE), 4), np.float32)
    file = npz(q=q, k=q, v=q, tokens=np.array(HOSTILE), source=np.array("".join(HOSTILE)))
    app = opened("your_tensors", {})
    app.main.get("file_uploader")[0].set_value([("".join(HOSTILE[:8]) + ".npz", file, "")]).run()
    for slug in ("your_tensors", *SLUGS):
        check(turned(app, slug))
        assert app.selectbox(key="example").value == "yours"
        for kind in ("markdown", "caption", "warning", "error", "info", "success", "subheader", "html"):
            for element in app.get(kind):
                told = element.proto.body
                if OUR_QR_CODE.fullmatch(told):
                    continue
                assert not re.search(r"(?<!\\)<(script|img|svg|iframe|a )", told), told
                assert not re.search(r"(?<!\\)\]\(javascript|(?<!\\):material/home:|\u202e", told), told
