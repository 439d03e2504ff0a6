"""python -m core.clinic FILE [FILE ...]: which step of this attention went wrong?

Exit status: 0 correct, 1 fault or unexplained, 2 undetermined, 3 bad input.
"""

import argparse
import sys
from collections.abc import Sequence

from core.clinic import LIMITS, diagnose_files
from core.clinic.beliefs import LAYOUTS


def _parser() -> argparse.ArgumentParser:
    description, _, rest = (__doc__ or "").partition("\n\n")
    made = argparse.ArgumentParser(
        prog="python -m core.clinic", description=description, epilog=f"{rest} {LIMITS}"
    )
    made.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help=".npz, .safetensors or .json with q, k, v, out; or one .npy or .csv an array",
    )
    made.add_argument("--json", action="store_true", help="print the answer as JSON")
    made.add_argument(
        "--causal",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether it is meant to be causal",
    )
    made.add_argument("--heads", type=int, dest="n_heads", help="number of (query) heads")
    made.add_argument("--kv-heads", type=int, dest="n_kv_heads", help="number of key/value heads")
    made.add_argument("--layout", choices=LAYOUTS, help="the axes of q, k and v, or of x")
    made.add_argument("--scale", type=float, help="the factor meant for the scores, if it is not 1/sqrt(d_k)")
    made.add_argument("--softcap", type=float, help="scaled scores z become softcap * tanh(z / softcap)")
    made.add_argument("--sink", type=float, help="a constant in softmax's sum of exponentials")
    made.add_argument(
        "--rope",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="q and k still need rotary positions",
    )
    made.add_argument(
        "--alibi", action=argparse.BooleanOptionalAction, default=None, help="the scores get an ALiBi bias"
    )
    made.add_argument(
        "--causal-alignment",
        choices=("lower_right", "top_left"),
        help="where the causal triangle lies if n_q differs from n_k",
    )
    made.add_argument("--mask-true", choices=("keep", "hide"), help="what True means in a boolean mask")
    made.add_argument(
        "--weights-as", choices=("x @ w", "x @ w.T"), help="how the projections are meant to be used"
    )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command -> its exit status."""
    options = vars(_parser().parse_args(arguments))
    files, as_json = options.pop("files"), options.pop("json")
    diagnosis = diagnose_files(files, **options)
    print(diagnosis.as_json() if as_json else diagnosis.as_text())
    return diagnosis.exit_code


if __name__ == "__main__":
    sys.exit(main())
