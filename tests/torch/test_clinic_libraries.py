"""PyTorch's own outputs are right in its own conventions, and its well-known misuses are named."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.clinic import assert_attention, diagnose

TORCH = torch.Generator().manual_seed(3)


def normal(*shape):
    return torch.randn(*shape, generator=TORCH)


# --- PyTorch's F.scaled_dot_product_attention ------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("causal", [False, True])
def test_sdpa(dtype, causal):
    q, k, v = (normal(2, 3, 9, 12).to(dtype) for _ in range(3))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    assert diagnose(q=q, k=k, v=v, out=out, causal=causal, layout="BHTD").verdict == "correct"
    assert diagnose(q=q, k=k, v=v, out=out).verdict == "correct"


def test_sdpa_grouped_masked_and_scaled():
    q, k, v = normal(2, 6, 9, 12), normal(2, 2, 9, 12), normal(2, 2, 9, 12)
    out = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    assert diagnose(q=q, k=k, v=v, out=out, causal=False).verdict == "correct"
    mask = torch.rand(2, 1, 9, 9, generator=TORCH) > 0.5
    mask[..., 0] = True
    q, k, v = (normal(2, 3, 9, 12) for _ in range(3))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert (
        diagnose(q=q, k=k, v=v, out=out, mask=mask, causal=False, layout="BHTD", mask_true="keep").verdict
        == "correct"
    )
    out = F.scaled_dot_product_attention(q, k, v, scale=0.4)
    assert diagnose(q=q, k=k, v=v, out=out, causal=False, layout="BHTD", scale=0.4).verdict == "correct"


def test_sdpa_rows_with_nothing_allowed_are_zero():
    q, k, v = (normal(2, 3, 9, 12) for _ in range(3))
    mask = torch.ones(9, 9).tril(-1).bool()
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert (out[:, :, 0] == 0).all()
    assert diagnose(q=q, k=k, v=v, out=out, mask=mask, causal=False, layout="BHTD").verdict == "correct"


def test_sdpa_misuse_polarity():
    """A mask made for nn.MultiheadAttention, True = hidden, given to SDPA."""
    q, k, v = (normal(2, 3, 9, 12) for _ in range(3))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(9, 9).triu(1).bool())
    assert ["mask.inverted"] in diagnose(q=q, k=k, v=v, out=out, causal=True, layout="BHTD").labels


def test_sdpa_misuse_alignment():
    q, k, v = normal(2, 3, 4, 12), normal(2, 3, 9, 12), normal(2, 3, 9, 12)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    said = {"causal": True, "layout": "BHTD"}
    assert diagnose(q=q, k=k, v=v, out=out, **said).labels == [["mask.causal_top_left"]]
    assert diagnose(q=q, k=k, v=v, out=out, causal_alignment="top_left", **said).verdict == "correct"


def test_sdpa_misuse_layout():
    q, k, v = (normal(2, 9, 3, 12) for _ in range(3))  # (B, T, h, d) where (B, h, T, d) is wanted
    out = F.scaled_dot_product_attention(q, k, v)
    assert diagnose(q=q, k=k, v=v, out=out, causal=False, layout="BTHD").labels == [
        ["heads.attends_over_heads"]
    ]


def test_sdpa_misuse_scaled_twice_and_dropout():
    q, k, v = (normal(2, 3, 9, 12) for _ in range(3))
    out = F.scaled_dot_product_attention(q / 12**0.5, k, v)
    assert ["scale.twice"] in diagnose(q=q, k=k, v=v, out=out, causal=False, layout="BHTD").labels
    torch.manual_seed(0)
    out = F.scaled_dot_product_attention(q, k, v, dropout_p=0.3)
    assert diagnose(q=q, k=k, v=v, out=out, causal=False, layout="BHTD").labels == [["blend.dropout_active"]]


def test_assert_attention_on_sdpa():
    def sdpa(q, k, v):
        return F.scaled_dot_product_attention(q, k, v)

    assert_attention(sdpa, convert=torch.from_numpy)

    def unscaled(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, scale=1.0)

    with pytest.raises(AssertionError, match=r"scale\.missing"):
        assert_attention(unscaled, convert=torch.from_numpy)

    def aligned_to_the_top_left(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    with pytest.raises(AssertionError, match=r"mask\.causal_top_left"):
        assert_attention(aligned_to_the_top_left, causal=True, convert=torch.from_numpy)
    assert_attention(aligned_to_the_top_left, causal=True, convert=torch.from_numpy, square_only=True)


# --- PyTorch's nn.MultiheadAttention --------------------------------------------------------------------


@pytest.fixture
def module():
    torch.manual_seed(1)
    made = torch.nn.MultiheadAttention(12, 3, batch_first=True)
    with torch.no_grad():
        made.in_proj_bias.normal_()
        made.out_proj.bias.normal_()
    return made.eval()


def arrays_of(module, x, out, weights=None):
    """As somebody would save them: the module's own state, nothing transposed."""
    state = {name: value.detach().numpy() for name, value in module.state_dict().items()}
    return {
        **state,
        "x": x.numpy(),
        "out": out.detach().numpy(),
        "weights": None if weights is None else weights.detach().numpy(),
    }


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("average", [False, True])
def test_multihead_attention(module, causal, average):
    x = normal(2, 7, 12)
    mask = torch.ones(7, 7).triu(1).bool() if causal else None
    out, weights = module(x, x, x, attn_mask=mask, average_attn_weights=average)
    answer = diagnose(arrays_of(module, x, out, weights), n_heads=3, causal=causal)
    assert answer.verdict == "correct", answer.as_text()
    assert any("mean over the heads" in note for note in answer.notes) == average


def test_multihead_attention_with_padding(module):
    x, hidden = normal(2, 7, 12), torch.arange(7)[None] >= torch.tensor([[5], [7]])
    out, _ = module(x, x, x, key_padding_mask=hidden)
    answer = diagnose({**arrays_of(module, x, out), "key_padding_mask": hidden}, n_heads=3, causal=False)
    assert answer.verdict == "correct", answer.as_text()
    out, _ = module(x, x, x, key_padding_mask=~hidden)  # True = a real token, as tokenizers give it
    answer = diagnose({**arrays_of(module, x, out), "key_padding_mask": hidden}, n_heads=3, causal=False)
    assert ["mask.inverted"] in answer.labels or ["mask.fully_masked_row"] in answer.labels, answer.as_text()


def test_multihead_attention_misuse_batch_first(module):
    x = normal(2, 7, 12)
    module.batch_first = False
    out, _ = module(x, x, x)
    answer = diagnose(arrays_of(module, x, out), n_heads=3, causal=False)
    assert answer.labels == [["heads.batch_first"]], answer.as_text()


def test_sequence_first_is_right_if_it_is_meant(module):
    x = normal(7, 2, 12)
    module.batch_first = False
    out, _ = module(x, x, x)
    answer = diagnose(arrays_of(module, x, out), n_heads=3, causal=False, layout="TBX", weights_as="x @ w.T")
    assert answer.verdict == "correct", answer.as_text()


def test_float16_module(module):
    x = normal(2, 7, 12).to(torch.bfloat16)
    module.to(torch.bfloat16)
    out, _ = module(x, x, x)
    arrays = {name: value.float().numpy() for name, value in module.state_dict().items()}
    answer = diagnose({**arrays, "x": x, "out": out}, n_heads=3, causal=False)
    assert answer.verdict == "correct", answer.as_text()
    assert np.asarray(x.float()).dtype == np.float32
