"""The fixed text of the exported programs. What is here is run by the tests, for the corners of Setup."""

from core.export.blanks import NUMPY_BLANKS

IMPORTS = {
    "numpy": "import numpy as np",
    "torch": (
        "import math\n\n"
        "import numpy as np\nimport torch\nimport torch.nn.functional as F\n\n"
        "torch.set_default_dtype(torch.float64)  # the tutor computes in float64"
    ),
    "module": (
        "import math\n\n"
        "import numpy as np\nimport torch\nfrom torch import nn\n\n"
        "torch.set_default_dtype(torch.float64)  # the tutor computes in float64"
    ),
}

_BY_HEAD = "What the tutor shows on screen. The first axis is the head."
ABOUT_INPUTS = {
    "numpy": _BY_HEAD,
    "torch": _BY_HEAD,
    "module": (
        "A layer makes its queries, keys and values from x. To get exactly the numbers on screen, each word\n"
        "is a one-hot vector here: then row t of a projection is what word t gets. Where the screen has a\n"
        "single query, it is that of the last position."
    ),
}

ABOUT_FUNCTIONS = {
    "numpy": "The four steps.",
    "torch": "The four steps, and PyTorch's one function that does all of them.",
    "module": "The layer. Each line says what shape it must have made: B sequences, T words, h heads.",
}

NUMPY_FUNCTIONS = '''\
def softmax(z):
    """Rows of scores -> rows of weights that sum to 1."""
    e = np.exp(z - z.max(axis=-1, keepdims=True))  # the row's largest score becomes 0: no overflow
    return e / e.sum(axis=-1, keepdims=True)


def attention(q, k, v, allowed=None):
    """q (h, n_q, d_k), k (h, n_k, d_k), v (h, n_k, d_v) -> output (h, n_q, d_v), and all on the way to it."""
    scores = q @ k.swapaxes(-1, -2)  # 1 score: (h, n_q, n_k)
    scaled = scores / np.sqrt(q.shape[-1])  # 2 scale: by √d_k
    masked = scaled if allowed is None else np.where(allowed, scaled, -np.inf)
    weights = softmax(masked)  # 3 softmax: each row sums to 1
    output = weights @ v  # 4 blend: (h, n_q, d_v)
    return output, weights, scores


def merge_heads(x):
    """(h, T, d) -> (T, h d): the heads side by side."""
    n_heads, seq_len, d = x.shape
    return x.transpose(1, 0, 2).reshape(seq_len, n_heads * d)'''

TORCH_FUNCTIONS = '''\
def attention(q, k, v, allowed=None):
    """q (h, n_q, d_k), k (h, n_k, d_k), v (h, n_k, d_v) -> output (h, n_q, d_v), and all on the way to it."""
    scores = q @ k.transpose(-2, -1)  # 1 score: (h, n_q, n_k)
    scaled = scores / math.sqrt(q.shape[-1])  # 2 scale: by √d_k
    masked = scaled if allowed is None else scaled.masked_fill(~allowed, -math.inf)
    weights = torch.softmax(masked, dim=-1)  # 3 softmax: each row sums to 1
    output = weights @ v  # 4 blend: (h, n_q, d_v)
    return output, weights, scores'''

MODULE = '''\
class MultiHeadAttention(nn.Module):
    """x (B, T, d_in) -> output (B, T, d_model) and the weights (B, h, T, T)."""

    def __init__(self, d_in, n_heads, d_k, d_v):
        super().__init__()
        self.n_heads, self.d_k, self.d_v = n_heads, d_k, d_v
        self.w_q = nn.Linear(d_in, n_heads * d_k, bias=False)
        self.w_k = nn.Linear(d_in, n_heads * d_k, bias=False)
        self.w_v = nn.Linear(d_in, n_heads * d_v, bias=False)
        self.w_o = nn.Linear(n_heads * d_v, n_heads * d_k, bias=False)

    def forward(self, x, allowed=None):
        B, T, _ = x.shape
        h, d_k, d_v = self.n_heads, self.d_k, self.d_v
        q = self.w_q(x).reshape(B, T, h, d_k).transpose(1, 2)
        assert q.shape == (B, h, T, d_k)
        k = self.w_k(x).reshape(B, T, h, d_k).transpose(1, 2)
        assert k.shape == (B, h, T, d_k)
        v = self.w_v(x).reshape(B, T, h, d_v).transpose(1, 2)
        assert v.shape == (B, h, T, d_v)
        z = q @ k.transpose(-2, -1) / math.sqrt(d_k)
        assert z.shape == (B, h, T, T)
        if allowed is not None:
            z = z.masked_fill(~allowed, -math.inf)  # before softmax
            assert z.shape == (B, h, T, T)
        weights = torch.softmax(z, dim=-1)
        assert weights.shape == (B, h, T, T)
        heads = weights @ v
        assert heads.shape == (B, h, T, d_v)
        concat = heads.transpose(1, 2).reshape(B, T, h * d_v)
        assert concat.shape == (B, T, h * d_v)
        output = self.w_o(concat)
        assert output.shape == (B, T, h * d_k)
        return output, weights'''

FUNCTIONS = {"numpy": NUMPY_FUNCTIONS, "torch": TORCH_FUNCTIONS, "module": MODULE}

ABOUT_MASK = {
    "none": "none.",
    "causal": "each word sees itself and the words before it.",
    "padding": "the filler words at the end are hidden.",
    "window": "each word sees its near neighbours only.",
    "causal+padding": "no later words, and no filler words at the end.",
    "given": "the model's own.",
}

_CAUSAL = "np.tri({rows}, {columns}, {columns} - {rows}, dtype=bool)"
_REAL = "(np.arange({columns}) < {n_real})"
NUMPY_MASKS = {
    "none": "None",
    "causal": _CAUSAL,
    "padding": f"np.broadcast_to{_REAL[:-1]}, ({{rows}}, {{columns}})).copy()",
    "window": ("np.abs(np.arange({rows})[:, None] + {columns} - {rows} - np.arange({columns})) < {window}"),
    "causal+padding": f"{_CAUSAL} & {_REAL}",
}

RUNS = {
    "numpy": "output, weights, scores = attention(q, k, v, allowed)\nprojected = merge_heads(output) @ w_o",
    "torch": (
        "q, k, v, w_o = (torch.tensor(array) for array in (q, k, v, w_o))\n"
        "output, weights, scores = attention(q, k, v, allowed)\n"
        "projected = output.transpose(0, 1).reshape(n_q, n_heads * d_v) @ w_o\n\n"
        "# The same in one call. Its boolean mask is True where a query may attend.\n"
        "built_in = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)"
    ),
    "module": (
        "layer = MultiHeadAttention(T, n_heads, d_k, d_v)\n"
        "with torch.no_grad():\n"
        '    for name, weight in (("w_q", w_q), ("w_k", w_k), ("w_v", w_v), ("w_o", w_o)):\n'
        "        # nn.Linear keeps the transpose of the matrix that x is multiplied by.\n"
        "        getattr(layer, name).weight.copy_(torch.tensor(weight).T)\n"
        "    x = torch.eye(T)[None]  # (1, T, T): one sequence of one-hot words\n"
        "    projected, weights = layer(x, allowed)\n"
        "projected, weights = projected[0, T - n_q :], weights[0, :, T - n_q :]"
    ),
}

_CHECK = '''\
def check(name, found, expected):
    """Fail unless both are equal up to the rounding of another order of additions."""
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-7, atol=1e-9, err_msg=name)
    print(f"{name}: as in the tutor, shape {tuple(expected.shape)}")


'''
CHECKS = {
    "numpy": _CHECK
    + 'check("scores", scores, expected_scores)\n'
    + 'check("weights", weights, expected_weights)\n'
    + 'check("output", output, expected_output)\n'
    + 'check("output after W_O", projected, expected_projected)',
    "torch": _CHECK
    + 'check("scores", scores, expected_scores)\n'
    + 'check("weights", weights, expected_weights)\n'
    + 'check("output", output, expected_output)\n'
    + 'check("F.scaled_dot_product_attention", built_in, expected_output)\n'
    + 'check("output after W_O", projected, expected_projected)',
    "module": _CHECK
    + 'check("weights", weights, expected_weights)\n'
    + 'check("output after W_O", projected, expected_projected)',
}


def with_blanks(functions: str) -> str:
    """The NumPy functions with every blank's place left open."""
    for blank in NUMPY_BLANKS:
        functions = functions.replace(blank.written, blank.open)
    return functions
