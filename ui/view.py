"""What a page is given: the reader's choices, everything computed from them, the cell that is looked at."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.attention import AttentionSteps
from core.heads import MultiHeadSteps
from core.real import natural
from core.setup import Inputs, Setup, changed, inputs, run
from ui import real_controls
from ui.controls import Selection, within


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Everything that a page draws: what was chosen, what was computed, which cell is looked at."""

    setup: Setup
    inputs: Inputs
    steps: MultiHeadSteps
    changed: Mapping
    selection: Selection

    @classmethod
    def of(cls, setup: Setup, selection: Selection) -> "View":
        """Run the core once for this state."""
        return cls(setup, inputs(setup), run(setup), changed(setup) if setup.edits else {}, selection)

    def but(self, **choices: object) -> "View":
        """The same view with other choices, for a page that has something to compare.

        A selected cell that the other sizes do not have is moved to the nearest that they have.
        """
        setup = replace(self.setup, **choices)
        return View.of(setup, within(self.selection, inputs(setup)))

    def real(self, example: str) -> "View":
        """This view if it shows that real example, else what it would show if the example were chosen."""
        if self.setup.example == example:
            return self
        chosen = real_controls.current(example)
        size = natural(chosen.heads)
        setup = Setup(
            example, size.seq_len, size.d_k, size.mask,
            sentence=chosen.sentence, real_head=chosen.real_head, capture=chosen.capture,
        )  # fmt: skip
        return View.of(setup, Selection(size.row, size.col, 0, 0))

    @property
    def head(self) -> int:
        """The head whose arithmetic is shown: the chosen one, the first when all are drawn."""
        return self.selection.head or 0

    @property
    def one(self) -> AttentionSteps:
        """The chosen head's steps, 2-D."""
        return self.steps.heads.head(self.head)

    @property
    def selected(self) -> dict[str, int]:
        """The selected cell by the axes of the matrices."""
        return {
            "query": self.selection.row,
            "key": self.selection.col,
            "channel": self.channel,
            "value_channel": self.value_channel,
        }

    @property
    def channel(self) -> int:
        """The selected channel of q and k."""
        return min(self.selection.channel, len(self.inputs.channels) - 1)

    @property
    def value_channel(self) -> int:
        """The selected channel of v and of the output."""
        return min(self.selection.channel, len(self.inputs.value_channels) - 1)
