"""The fan-out and fan-in of multi-head attention, drawn with the shapes of the present state."""

import streamlit as st

from ui.view import View

MOST_BOXES = 4  # heads drawn as boxes of their own; the last one stands for the rest


def show(view: View) -> None:
    """Input, one box a head, concatenate, project: each with its shape."""
    h, n_q, d_k = view.inputs.q.shape
    d_v, d_model = view.inputs.v.shape[-1], view.setup.d_model
    heads = "".join(_box(name, f"{n_q} × {d_k} → {n_q} × {d_v}") for name in _head_names(h))
    st.html(
        '<div class="fan" role="img" aria-label="'
        f"Fan-out to {h} heads and fan-in: the input is cut into {h} heads, each attends, "
        f'the outputs are concatenated and projected by W_O">'
        f"{_box('Q, K, V', _given(n_q, d_model, h * d_v))}<i>cut</i><div>{heads}</div><i>join</i>"
        f"{_box('Concat', f'{n_q} × {h * d_v}')}<i>· W_O</i>{_box('Output', f'{n_q} × {d_model}')}</div>"
    )


def _given(n_q: int, d_model: int, values: int) -> str:
    """The shape of Q, K and V, all heads together; V can have a width of its own."""
    if values == d_model:
        return f"{n_q} × {d_model}"
    return f"Q, K {n_q} × {d_model} · V {n_q} × {values}"


def _head_names(n_heads: int) -> list[str]:
    if n_heads <= MOST_BOXES:
        return [f"head {head}" for head in range(n_heads)]
    return [*(f"head {head}" for head in range(MOST_BOXES - 1)), f"… head {n_heads - 1}"]


def _box(name: str, shape: str) -> str:
    """One box. Only our own words and numbers are put into the markup."""
    return f"<span><b>{name}</b><small>{shape}</small></span>"
