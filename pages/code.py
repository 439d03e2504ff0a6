"""From formula to code: each part of the formula is one line, and each line makes one tensor."""

from ui import code, exports, stage
from ui.view import View


def render(view: View) -> None:
    """The code beside what the chosen line makes, or beside its blanks; then everything to take along."""
    stage.idea("code")
    part, version, blanks = code.choose()
    program, values = stage.columns()
    with values:
        if blanks:
            code.fill_in()
        else:
            code.value(view, part)
    with program:
        code.program(part, version, blanks=blanks)
    exports.show(view, version, blanks=blanks)
    stage.pitfalls("code")


if __name__ == "__main__":
    from app import main

    main()
