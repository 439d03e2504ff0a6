"""What a visit has come to, kept in the browser's tab over a reload and over a restart of the server.

Streamlit keeps a session in the server's memory, and a reload begins a new one. The choices stand in the
address; what does not belong there (answers, a voter's token, the key to one's own class) the tab keeps
in its sessionStorage, and nobody else hears of it. What comes back was out of our hands: whoever reads one of
these checks it.
"""

import json
import secrets
from pathlib import Path
from typing import Any

import streamlit as st

PREDICTIONS, ATTEMPTS = "predictions", "check_attempts"  # session_state: plain dicts with text as keys
CLASS, VOTER = "poll_class", "poll_voter"  # session_state: plain texts and lists of texts
KEPT = (PREDICTIONS, ATTEMPTS, CLASS, VOTER)
MOST_LETTERS = 100_000  # of what is kept; a visit comes to some thousands
_VISIT, _HEARD, _KEY = "visit", "visit_heard", "keep"

_component = st.components.v2.component(
    "keep_visit", js=(Path(__file__).parents[1] / "assets" / "keep" / "keep.js").read_text(encoding="utf-8")
)


def watch() -> None:
    """Have the tab keep what the session holds now; the first time, ask what it has kept."""
    state = st.session_state
    held = {name: state[name] for name in KEPT if state.get(name)}
    _component(
        key=_KEY,
        data={
            "visit": state.setdefault(_VISIT, secrets.token_urlsafe(8)),
            "heard": heard(),
            "kept": json.dumps(held) if held else "",
        },
        on_found_change=_take,
    )


def heard() -> bool:
    """Whether something kept has come back to this session."""
    return st.session_state.get(_HEARD, False)


def _take() -> None:
    """Callback: what was kept before. After a restart the message to the session before comes too."""
    state = st.session_state
    found = state[_KEY]["found"]
    if not isinstance(found, dict) or found.get("visit") != state.get(_VISIT):
        return
    state[_HEARD] = True
    for name, value in read(found.get("kept")).items():
        state[name] = joined(value, state.get(name))


def read(text: object) -> dict[str, Any]:
    """What the tab has kept -> the values by name; {} for anything that was not written by `watch`."""
    if not isinstance(text, str) or len(text) > MOST_LETTERS:
        return {}
    try:
        kept = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {name: kept[name] for name in KEPT if name in kept} if isinstance(kept, dict) else {}


def joined(before: Any, since: Any) -> Any:
    """What was kept, and of answers also what was given since: the later one counts."""
    return {**before, **since} if isinstance(before, dict) and isinstance(since, dict) else before
