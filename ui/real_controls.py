"""The inputs of real heads: the tiny model's sentence, which head, and the reader's own files."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core import captures
from core.captures import Capture, CaptureError, example_capture, read_capture
from core.grammar import SENTENCES, WORD_GROUPS
from core.real import FIRST_HEAD, MODEL, UPLOADS, RealHeads, head_names, natural, real_heads
from core.tiny_model import read_sentence
from ui.text import literal

FIRST_SENTENCE = SENTENCES["keys"]
FILES = "uploaded_captures"  # session state: (file name, Capture) of UPLOADS, for this visit only
READ = "last_sentence_read"  # session state: what is shown while the sentence holds unknown words


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A real head, and what a Setup needs to name it."""

    sentence: str
    real_head: str
    capture: Capture | None
    heads: RealHeads


def choose(example: str, asked: Sequence[str]) -> Chosen:
    """Draw what the page has not drawn itself, and fetch the head."""
    if example == MODEL and "sentence" not in asked:
        ask_sentence()
    if "real_head" not in asked:
        ask_head(example)
    if example != MODEL:
        st.caption(literal(title(example)))
    sentence = read_text() if example == MODEL else FIRST_SENTENCE
    head, capture = st.session_state["real_head"], uploaded(example)
    return Chosen(sentence, head, capture, real_heads(example, sentence, head, capture))


def ask_sentence() -> None:
    """The sentence as text; words that the model does not know are told, and nothing typed is lost."""
    st.text_input(
        "Sentence for the tiny model", FIRST_SENTENCE, key="sentence", bind="query-params", max_chars=300,
        on_change=take_natural_size, args=(MODEL, True),
    )  # fmt: skip
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


def ask_head(example: str, label: str = "Which head") -> None:
    """The names of the heads on offer."""
    names = head_names(example, uploaded(example))
    if st.session_state.get("real_head", names[0]) not in names:
        st.session_state["real_head"] = names[0]
    first = names.index(FIRST_HEAD) if FIRST_HEAD in names else 0
    st.selectbox(label, names, first, key="real_head", bind="query-params", on_change=_forget_edits)


def ask_capture() -> None:
    """Which capture the page and the walk show."""
    st.selectbox(
        "Capture", captures_offered(), key="example", bind="query-params",
        on_change=lambda: take_natural_size(st.session_state["example"]),
    )  # fmt: skip


def keep_to(examples: Sequence[str]) -> None:
    """On arrival at a page that is about some examples: the first of them, unless one is chosen."""
    if _current("example", "") not in examples:
        st.session_state["example"] = examples[0]
        take_natural_size(examples[0])


def take_natural_size(example: str, keep_head: bool = False) -> None:
    """A newly chosen head or sentence starts whole, with its own mask, at the cell that stands out."""
    names = head_names(example, uploaded(example))
    first = FIRST_HEAD if FIRST_HEAD in names else names[0]
    head = _current("real_head", first) if keep_head else first
    head = head if head in names else first
    heads = real_heads(example, read_text(), head, uploaded(example))
    size = natural(heads)
    st.session_state.update(
        real_head=head, seq_len=max(2, size.seq_len), mask=size.mask, row=size.row, col=size.col,
        channel=0, edits="",
    )  # fmt: skip


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


def ask_file() -> None:
    """The upload; what is wrong with a file is told beside it."""
    st.file_uploader(
        "An .npz or .safetensors file with q, k, v", ["npz", "safetensors"], key="file", on_change=_take_file
    )
    if error := st.session_state.get("file_error"):
        st.error(literal(error))


def _take_file() -> None:
    """Read the file; keep it and the one before it, in this visit's memory alone."""
    file = st.session_state["file"]
    st.session_state["file_error"] = ""
    if file is None:
        return
    try:
        capture = read_capture(file.getvalue(), file.name)
    except CaptureError as error:
        st.session_state["file_error"] = f"{file.name}: {error}"
        return
    st.session_state[FILES] = [(file.name, capture), *_files()][: len(UPLOADS)]
    st.session_state["example"] = UPLOADS[0]
    take_natural_size(UPLOADS[0])


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
    st.session_state.update(sentence=sentence, start_from=None, add_word=None)
    take_natural_size(MODEL, keep_head=True)


def _forget_edits() -> None:
    """Hand-made changes belong to the head they were made in."""
    st.session_state["edits"] = ""


def _current(key: str, default: str) -> str:
    """A bound value before its widget has been drawn in this run: the session's, or else the URL's."""
    return st.session_state.get(key) or st.query_params.get(key) or default


def choose_head(name: str) -> None:
    """Callback of a board with one matrix a head: the head that was picked in."""
    if st.session_state.get("real_head") != name:
        st.session_state["real_head"] = name
        _forget_edits()
