"""The snippet that readers copy, on models with random weights (no download): the steps are the library's."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from transformers import (
    BertConfig,
    BertModel,
    BloomConfig,
    BloomModel,
    Gemma2Config,
    Gemma2Model,
    Gemma3TextConfig,
    Gemma3TextModel,
    GPT2Config,
    GPT2Model,
    LlamaConfig,
    LlamaModel,
    MistralConfig,
    MistralModel,
    PreTrainedModel,
)

from core.capture_errors import errors
from core.captures import Capture, read_capture

SNIPPET = Path(__file__).parents[2] / "assets" / "snippets" / "capture_transformers.py"
IDS = torch.tensor([[5, 17, 3, 99, 42, 8, 17, 60, 1]])
TOKENS = [f"t{i}" for i in IDS[0].tolist()]


def bert() -> PreTrainedModel:
    return BertModel(
        BertConfig(
            vocab_size=100, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64
        )
    )


def gpt2() -> PreTrainedModel:
    return GPT2Model(GPT2Config(vocab_size=100, n_positions=32, n_embd=48, n_layer=2, n_head=3))


def llama() -> PreTrainedModel:
    config = LlamaConfig(
        vocab_size=100,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=8,
        num_key_value_heads=2,
        intermediate_size=96,
    )
    return LlamaModel(config)


def mistral() -> PreTrainedModel:
    """A causal mask with a window of 4."""
    config = MistralConfig(
        vocab_size=100,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=96,
        sliding_window=4,
    )
    return MistralModel(config)


def gemma3() -> PreTrainedModel:
    """The scores are divided by √20, although d_k is 16."""
    config = Gemma3TextConfig(
        vocab_size=100,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        intermediate_size=96,
        query_pre_attn_scalar=20,
    )
    return Gemma3TextModel(config)


def gemma2() -> PreTrainedModel:
    """Soft-capped scores: more than the four steps."""
    return Gemma2Model(
        Gemma2Config(vocab_size=100, hidden_size=64, num_hidden_layers=1, intermediate_size=96)
    )


def bloom() -> PreTrainedModel:
    """An architecture that keeps its attention to itself."""
    return BloomModel(BloomConfig(vocab_size=100, hidden_size=64, n_layer=1, n_head=4))


MODELS = {"BERT": bert, "GPT-2": gpt2, "Llama": llama, "Mistral": mistral, "Gemma 3": gemma3}


@pytest.fixture(scope="module")
def snippet() -> ModuleType:
    spec = importlib.util.spec_from_file_location("capture_transformers", SNIPPET)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> PreTrainedModel:
    torch.manual_seed(0)
    model = MODELS[request.param]().eval()
    with torch.no_grad():
        for parameter in model.parameters():  # sharper maps than the small start weights give
            parameter.mul_(3)
    model.set_attn_implementation("eager")
    return model


def captured(snippet: ModuleType, model: PreTrainedModel, layer: int, folder: Path) -> Capture:
    snippet.save(folder / "capture.npz", snippet.capture(model, {"input_ids": IDS}, layer), TOKENS)
    return read_capture((folder / "capture.npz").read_bytes())


@pytest.mark.parametrize("layer", [0, 1])
def test_the_numpy_steps_reproduce_the_librarys_attention(
    snippet: ModuleType, model: PreTrainedModel, layer: int, tmp_path: Path
) -> None:
    capture = captured(snippet, model, layer, tmp_path)
    with torch.no_grad():
        theirs = model(IDS, output_attentions=True).attentions[layer][0].numpy()
    ours = np.stack([capture.head(i).weights for i in range(capture.n_heads)])
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() < 1e-5
    assert np.ptp(theirs) > 0.1  # not uniform: equal for a reason
    output_error = errors(capture).output
    assert output_error is not None
    assert output_error < 1e-5
    assert capture.tokens == tuple(TOKENS)


def test_the_models_output_stays_the_same_and_its_implementation_is_given_back(
    snippet: ModuleType, model: PreTrainedModel
) -> None:
    with torch.no_grad():
        before = model(IDS).last_hidden_state
        snippet.capture(model, {"input_ids": IDS}, 0)
        assert model.config._attn_implementation == "eager"
        model.set_attn_implementation(snippet.NAME)
        during = model(IDS).last_hidden_state
    assert torch.allclose(during, before, atol=1e-5)


def test_grouped_heads_and_the_causal_mask_are_kept(snippet: ModuleType, tmp_path: Path) -> None:
    capture = captured(snippet, llama().eval(), 0, tmp_path)
    assert (capture.n_heads, capture.n_kv_heads) == (8, 2)
    assert capture.allowed is not None
    assert np.array_equal(capture.allowed[0], np.tri(len(TOKENS), dtype=bool))


def test_a_layer_that_is_not_there_is_told(snippet: ModuleType) -> None:
    with pytest.raises(IndexError, match=r"layer 7 .* 2 attention layers"):
        snippet.capture(gpt2().eval(), {"input_ids": IDS}, 7)


def test_an_architecture_that_keeps_its_attention_to_itself_is_told(snippet: ModuleType) -> None:
    with pytest.raises(IndexError, match="with none, this architecture does not take its attention from"):
        snippet.capture(bloom().eval(), {"input_ids": IDS}, 0)


def test_other_scales_and_windows_are_kept(snippet: ModuleType, tmp_path: Path) -> None:
    assert captured(snippet, gemma3().eval(), 0, tmp_path).scaling == pytest.approx(20**-0.5)
    allowed = captured(snippet, mistral().eval(), 0, tmp_path).allowed
    assert allowed is not None
    assert allowed[0].sum(axis=-1).tolist() == [1, 2, 3, 4, 4, 4, 4, 4, 4]


def test_more_than_the_four_steps_is_refused(snippet: ModuleType) -> None:
    with pytest.raises(NotImplementedError, match="softcap"):
        snippet.capture(gemma2().eval(), {"input_ids": IDS}, 0)
    q = torch.zeros(1, 2, 3, 4)
    with pytest.raises(NotImplementedError, match="ALiBi"):
        snippet._attend(None, q, q, q, torch.full((1, 1, 3, 3), -0.5))
