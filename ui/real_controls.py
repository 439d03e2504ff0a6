"""The inputs of real heads: the tiny model's sentence, which head, and the reader's own files."""

from dataclasses import dataclass

import streamlit as st

from core import captures
from core.captures import Capture, CaptureError, example_capture, read_capture
from core.grammar import SENTENCES, WORD_GROUPS
from core.real import FIRST_HEAD, MODEL, UPLOADS, RealHeads, head_names, natural, real_heads
from core.tiny_model import read_sentence
from core.tokens import displayable
from ui import uploads, where
from ui.assigned import assign
from ui.text import literal

FIRST_SENTENCE = SENTENCES["keys"]
FILES = "uploaded_captures"  # session state: (file name, Capture) of UPLOADS, for this visit only
OWN_PAGE = "real_heads"
LOST = "lost_file"  # session state: whether the address asks for an upload that is not here
LOST_FILE = "This address shows an uploaded file. Files stay for one visit: please choose yours again."
MOST_LETTERS = 300
MAX_FILE_MB = 8
READ = "last_sentence_read"  # session state: what is shown while the sentence holds unknown words


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A real head, and what a Setup needs to name it."""

    sentence: str
    real_head: str
    capture: Capture | None
    heads: RealHeads


def current(example: str) -> Chosen:
    """The head that is chosen for this example, or would be if the example were chosen."""
    names, capture = head_names(example, uploaded(example)), uploaded(example)
    head = _current("real_head", FIRST_HEAD)
    head = head if head in names else names[0]
    sentence = read_text() if example == MODEL else FIRST_SENTENCE
    return Chosen(sentence, head, capture, real_heads(example, sentence, head, capture))


def choose(example: str) -> Chosen:
    """The sidebar's part: the sentence, which head, which model."""
    names = head_names(example, uploaded(example))
    if example == MODEL:
        st.text_input(
            "Sentence", FIRST_SENTENCE, key="sentence", bind="query-params", max_chars=MOST_LETTERS,
            on_change=take_natural_size, args=(MODEL, True),
        )  # fmt: skip
        if where.page() != OWN_PAGE:  # there the page's own field tells it
            _tell_unknown_words()
    if st.session_state.get("real_head", names[0]) not in names:
        st.session_state["real_head"] = names[0]
    first = names.index(FIRST_HEAD) if FIRST_HEAD in names else 0
    st.selectbox("Which head", names, first, key="real_head", bind="query-params", on_change=_forget_edits)
    if example != MODEL:
        st.caption(literal(title(example)))
    return current(example)


def ask_sentence() -> None:
    """The page's own field: what is typed goes into the shared sentence."""
    st.session_state["typed"] = st.session_state.setdefault("sentence", FIRST_SENTENCE)
    st.text_input("Sentence for the tiny model", key="typed", max_chars=MOST_LETTERS, on_change=_take_typed)
    _tell_unknown_words()


def _tell_unknown_words() -> None:
    """What cannot be read is told; nothing that was typed is lost."""
    try:
        read_sentence(st.session_state["sentence"])
    except ValueError as error:
        st.warning(literal(f"{error} Shown meanwhile: {read_text()}"))


def read_text() -> str:
    """The sentence if it can be read, else the last one that could."""
    text = _current("sentence", FIRST_SENTENCE)
    try:
        read_sentence(text)
    except ValueError:
        return st.session_state.get(READ, FIRST_SENTENCE)
    st.session_state[READ] = text
    return text


def ask_start() -> None:
    """A sentence to start with."""
    st.selectbox(
        "Start from", list(SENTENCES), index=None, key="start_from", placeholder="an example",
        format_func=lambda name: SENTENCES[name], on_change=_start_from,
    )  # fmt: skip


def ask_word() -> None:
    """Every word that the model knows, by what it is; the chosen one is put at the end of the sentence."""
    groups = {word: group for group, words in WORD_GROUPS.items() for word in words}
    st.selectbox(
        "Add a word", list(groups), index=None, key="add_word", placeholder=f"one of {len(groups)}",
        format_func=lambda word: f"{word}  ({groups[word]})", on_change=_add_word,
    )  # fmt: skip


def ask_head(example: str) -> None:
    """The page's own choice of a head, which goes into the shared one."""
    st.session_state.setdefault("real_head", FIRST_HEAD)
    st.session_state["which_head"] = current(example).real_head
    names = head_names(example, uploaded(example))
    st.selectbox("Which head", names, key="which_head", on_change=_take_head, args=(example,))


def ask_capture() -> str:
    """Which capture the page and the walk show; the walk's until something is chosen here."""
    shared, names = st.session_state["example"], captures_offered()
    st.session_state["capture"] = shared if shared in names else names[0]
    return st.selectbox("Capture", names, key="capture", on_change=_take_capture)


def adopt(example: str) -> None:
    """Callback of whatever is chosen on the pages of real heads: the walk shows it from now on."""
    if st.session_state["example"] != example:
        st.session_state["example"] = example
        take_natural_size(example, keep_head=True)


def take_natural_size(example: str, keep_head: bool = False) -> None:
    """A newly chosen head or sentence starts whole, with its own mask, at the cell that stands out."""
    st.session_state.pop(LOST, None)
    names = head_names(example, uploaded(example))
    first = FIRST_HEAD if FIRST_HEAD in names else names[0]
    head = _current("real_head", first) if keep_head else first
    head = head if head in names else first
    heads = real_heads(example, read_text(), head, uploaded(example))
    size = natural(heads)
    at_first = {"seq_len": max(2, size.seq_len), "mask": size.mask, "row": size.row, "col": size.col}
    assign(at_first | {"real_head": head, "channel": 0, "edits": ""})


def captures_offered() -> list[str]:
    """The shipped captures, then those that were uploaded in this visit."""
    return [*captures.EXAMPLES, *list(UPLOADS)[: len(_files())]]


def offered() -> list[str]:
    """Every real example that can be chosen now."""
    return [MODEL, *captures_offered()]


def uploaded(example: str) -> Capture | None:
    """The uploaded capture behind this example; None for all others."""
    return _files()[UPLOADS.index(example)][1] if example in UPLOADS else None


def capture_of(example: str) -> Capture:
    """Any capture, shipped or uploaded."""
    return uploaded(example) or example_capture(example)


def title(example: str) -> str:
    """Model, licence and layer as the file names them; of an upload its file name too."""
    capture = capture_of(example)
    file = [_files()[UPLOADS.index(example)][0]] if example in UPLOADS else []
    layer = [f"layer {capture.layer}"] if capture.layer else []
    return ", ".join([*file, capture.source or "model not named", *layer])


def note_lost_file() -> None:
    """An address may ask for an upload of another visit, or of one that a restart of the server has ended."""
    asked = st.query_params.get("example")
    if "example" not in st.session_state and asked in UPLOADS and asked not in offered():
        st.session_state[LOST] = True


def tell_lost_file() -> None:
    """Say that the file has to be brought again, until something else is chosen."""
    if st.session_state.get(LOST):
        st.warning(LOST_FILE)


def ask_file() -> None:
    """The upload; what is wrong with a file is told beside it."""
    uploads.ask(
        "An .npz or .safetensors file with q, k, v", ["npz", "safetensors"], "file", MAX_FILE_MB, _take_file
    )
    if error := st.session_state.get("file_error"):
        st.error(literal(error))
    elif st.session_state.get(LOST):
        st.info(LOST_FILE)


def _take_file() -> None:
    """Read the file; keep it and the one before it, in this visit's memory alone."""
    file = uploads.given("file")
    st.session_state["file_error"] = ""
    if file is None:
        return
    name = displayable(file.name)
    try:
        capture = read_capture(file.getvalue())
    except CaptureError as error:
        st.session_state["file_error"] = f"{name}: {error}"
        return
    st.session_state[FILES] = [(name, capture), *_files()][: len(UPLOADS)]
    st.session_state["example"] = UPLOADS[0]
    take_natural_size(UPLOADS[0])


def _take_capture() -> None:
    st.session_state["example"] = st.session_state["capture"]
    take_natural_size(st.session_state["capture"])


def _files() -> list[tuple[str, Capture]]:
    return st.session_state.get(FILES, [])


def _start_from() -> None:
    if name := st.session_state["start_from"]:
        _write(SENTENCES[name])


def _add_word() -> None:
    if word := st.session_state["add_word"]:
        _write(f"{st.session_state['sentence']} {word}".strip())


def _write(sentence: str) -> None:
    """Put a sentence into the text field; both lists are empty again, ready for the next choice."""
    st.session_state.update(example=MODEL, sentence=sentence, start_from=None, add_word=None)
    take_natural_size(MODEL, keep_head=True)


def _take_typed() -> None:
    _write(st.session_state["typed"])


def _take_head(example: str) -> None:
    choose_head(example, st.session_state["which_head"])


def choose_head(example: str, name: str) -> None:
    """Callback: a head was chosen, or picked on a board. Hand-made changes belong to the one before."""
    changed = st.session_state.get("real_head") != name
    st.session_state["real_head"] = name
    adopt(example)
    if changed:
        _forget_edits()


def _forget_edits() -> None:
    assign({"edits": ""})


def _current(key: str, default: str) -> str:
    """A shared choice, which has no input of its own while another example is chosen."""
    return st.session_state.get(key) or default
