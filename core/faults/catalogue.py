"""The faults by name: what each one is, its line of code beside the right one, and where it is taught."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to get attention wrong."""

    label: str  # "step.kind"
    title: str
    faulty_line: str
    right_line: str
    stories: tuple[str, ...] = ()  # public reports of it: owner/repository#number

    @property
    def step(self) -> str:
        """The step that goes wrong."""
        return self.label.split(".")[0]

    @property
    def page(self) -> str:
        """The page that teaches the step."""
        return {"projection": "heads", "input": "clinic"}.get(self.step, self.step)


#: the right line of each step, which most faults of that step stand beside
PROJECT = "q, k, v = x @ w_q, x @ w_k, x @ w_v"
SPLIT = "q = q.reshape(B, T, h, d_k).swapaxes(1, 2)"
MERGE = "out = heads.swapaxes(1, 2).reshape(B, T, h * d_v)"
GROUP = "k = k.repeat(h // h_kv, axis=1)"
OUT = "out = concat @ w_o"
SCORE = "scores = q @ k.swapaxes(-1, -2)"
SCALE = "scaled = scores / np.sqrt(d_k)"
ROPE = "q, k = rotate(q, position_q), rotate(k, position_k)"
ALIBI = "scaled = scaled + slope * (j - i)"
CAUSAL = "allowed = np.tri(n_q, n_k, n_k - n_q, dtype=bool)"
PADDING = "allowed = key_keep[:, None, None, :]"
FILL = "masked = np.where(allowed, scaled, -np.inf)"
EXP = "e = np.exp(masked - masked.max(-1, keepdims=True))"
SUM = "weights = e / e.sum(-1, keepdims=True)"
SOFTMAX = "weights = softmax(masked, axis=-1)"
BLEND = "out = weights @ v"

#: label, title, faulty line, right line, public reports
_ROWS = (
    # score
    ("score.qk_swapped", "Queries and keys are swapped", "scores = k @ q.swapaxes(-1, -2)", SCORE),
    ("score.k_not_transposed", "The keys are not transposed", "scores = q @ k", SCORE, "HomericIntelligence/Odyssey#5648"),
    ("score.negated", "The scores have the wrong sign", "scores = -(q @ k.swapaxes(-1, -2))", SCORE),
    ("score.same_tensor_twice", "One tensor is multiplied with itself", "scores = q @ q.swapaxes(-1, -2)", SCORE),
    ("score.arguments_swapped", "q, k and v are handed over in another order", "out = attention(q, v, k)", "out = attention(q, k, v)"),
    ("score.k_reshaped", "The keys are reshaped where they should be transposed", "scores = q @ k.reshape(B, h, d_k, T)", SCORE),
    ("score.k_out_of_order", "The keys are in another order than the values", "scores = q @ np.roll(k, 1, axis=-2).swapaxes(-1, -2)", SCORE),
    ("score.q_out_of_order", "The queries are in another order", "scores = np.roll(q, 1, axis=-2) @ k.swapaxes(-1, -2)", SCORE),
    ("score.k_wrong_head", "The keys of another head", "scores = q @ k[:, ::-1].swapaxes(-1, -2)", SCORE),
    ("score.k_wrong_entry", "The keys of another batch entry", "scores = q @ k[::-1].swapaxes(-1, -2)", SCORE),
    ("score.channels_missing", "Some channels are left out of the dot products", "scores = q[..., 1:] @ k[..., 1:].swapaxes(-1, -2)", SCORE),
    ("score.squared", "The scores are squared", "scores = (q @ k.swapaxes(-1, -2)) ** 2", SCORE),
    ("score.rectified", "Negative scores are set to 0", "scores = np.maximum(q @ k.swapaxes(-1, -2), 0)", SCORE),
    ("score.v_used_as_k", "The values stand in for the keys", "scores = q @ v.swapaxes(-1, -2)", SCORE),
    ("score.normalised", "Queries or keys are normalised to length 1 first", "q = q / np.linalg.norm(q, axis=-1, keepdims=True)", SCORE),
    ("score.distance", "A distance is used in place of the dot product", "scores = -((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1)", SCORE),
    ("score.absolute", "The sign of the scores is lost", "scores = np.abs(q @ k.swapaxes(-1, -2))", SCORE),
    ("score.fp16_overflow", "Scores pass 65504 and overflow in float16", "scores = q.astype(np.float16) @ k.swapaxes(-1, -2)", "scores = (q / np.sqrt(d_k)) @ k.swapaxes(-1, -2)  # small enough, or float32",
     "ultralytics/ultralytics#24990", "pytorch/pytorch#60939", "philipturner/metal-flash-attention#8", "mlc-ai/mlc-llm#1638"),
    ("score.rope_missing", "The rotary positions are missing", "scores = q @ k.swapaxes(-1, -2)", ROPE),
    ("score.rope_interleaved", "Rotary pairs are channels (2i, 2i+1), not (i, i + d/2)", "first, second = q[..., 0::2], q[..., 1::2]", "first, second = np.split(q, 2, axis=-1)"),
    ("score.rope_sign", "The rotary positions turn the wrong way", "angle = -position * frequency", "angle = position * frequency"),
    ("score.rope_on_one_side", "Only queries or only keys are turned", "q = rotate(q, position_q)", ROPE),
    ("score.rope_offset_missing", "Rotary positions of the queries start at 0 beside a longer cache", "position_q = np.arange(n_q)", "position_q = np.arange(n_q) + n_k - n_q"),
    ("score.rope_twice", "The rotary positions are applied twice", "q, k = rotate(rotate(q)), rotate(rotate(k))", ROPE),
    ("score.rope_on_values", "The values are turned too", "q, k, v = rotate(q), rotate(k), rotate(v)", ROPE),
    ("score.rope_not_wanted", "Rotary positions are applied where none were meant", "q, k = rotate(q), rotate(k)", SCORE),
    ("score.rope_frequencies", "The rotary frequencies come from another base", "frequency = 500_000.0 ** (-2 * i / d_k)", "frequency = 10_000.0 ** (-2 * i / d_k)"),
    ("score.rope_partial", "Only half of the channels are turned", "q[..., : d_k // 2] = rotate(q[..., : d_k // 2], position_q)", ROPE),
    ("score.rope_positions_apart", "Rotary positions of queries and keys are one apart", "position_q = np.arange(n_q) + 1", "position_q = np.arange(n_q) + n_k - n_q"),
    ("score.alibi_not_wanted", "An ALiBi bias is added where none was meant", ALIBI, SCALE),
    ("score.alibi_sign", "The ALiBi bias has the wrong sign", "scaled = scaled + slope * (i - j)", ALIBI, "meta-pytorch/attention-gym#86"),
    ("score.alibi_missing", "The ALiBi bias is missing", "scaled = scores / np.sqrt(d_k)", ALIBI),
    ("score.alibi_slopes", "The ALiBi slopes belong to other heads", "slope = 2.0 ** (-8 * head / h)", "slope = 2.0 ** (-8 * (head + 1) / h)"),
    ("score.bias_missing", "The bias on the scores is missing", SCALE, "scaled = scores / np.sqrt(d_k) + bias"),
    ("score.bias_scaled", "The bias is divided along with the scores", "scaled = (scores + bias) / np.sqrt(d_k)", "scaled = scores / np.sqrt(d_k) + bias"),
    ("score.bias_sign", "The bias is subtracted", "scaled = scores / np.sqrt(d_k) - bias", "scaled = scores / np.sqrt(d_k) + bias"),
    # scale
    ("scale.missing", "The scale is missing", "scaled = scores", SCALE, "delzac/cntkx#10", "PAIR-code/tiny-transformers#71", "mlc-ai/mlc-llm#3426"),
    ("scale.by_d_k", "Divided by d_k, not by its square root", "scaled = scores / d_k", SCALE),
    ("scale.twice", "Scaled twice", "scaled = (q / np.sqrt(d_k)) @ k.swapaxes(-1, -2) / np.sqrt(d_k)", SCALE, "huggingface/transformers#38290"),
    ("scale.three_times", "Scaled three times", "scaled = scores / np.sqrt(d_k) ** 3", SCALE),
    ("scale.multiplied", "Multiplied by sqrt(d_k)", "scaled = scores * np.sqrt(d_k)", SCALE, "esceptico/perceiver-io#9"),
    ("scale.multiplied_by_d_k", "Multiplied by d_k", "scaled = scores * d_k", SCALE),
    ("scale.by_sqrt_d_model", "Divided by sqrt(d_model), the width of all heads", "scaled = scores / np.sqrt(d_model)", SCALE, "karpathy/ng-video-lecture#6", "lucidrains/vit-pytorch#65"),
    ("scale.by_d_model", "Divided by d_model", "scaled = scores / d_model", SCALE),
    ("scale.by_sqrt_seq", "Divided by the square root of the sequence length", "scaled = scores / np.sqrt(T)", SCALE),
    ("scale.by_seq", "Divided by the sequence length", "scaled = scores / T", SCALE),
    ("scale.by_sqrt_heads", "Divided by the square root of the number of heads", "scaled = scores / np.sqrt(h)", SCALE, "tenstorrent/tt-metal#56789"),
    ("scale.by_heads", "Divided by the number of heads", "scaled = scores / h", SCALE),
    ("scale.by_sqrt_batch", "Divided by the square root of the batch size", "scaled = scores / np.sqrt(q.shape[0])", SCALE),
    ("scale.by_sqrt_d_v", "Divided by the square root of the values' width", "scaled = scores / np.sqrt(v.shape[-1])", SCALE),
    ("scale.quarter_root", "Divided by the fourth root of d_k: only one of q and k was scaled", "scores = (q / d_k**0.25) @ k.swapaxes(-1, -2)", "scores = (q / d_k**0.25) @ (k / d_k**0.25).swapaxes(-1, -2)"),
    ("scale.by_d_k_squared", "Divided by d_k squared", "scaled = scores / d_k**2", SCALE),
    ("scale.precedence", "The square root is written so that it is none", "scaled = scores / (d_k ** 1 / 2)", "scaled = scores / d_k ** (1 / 2)"),
    ("scale.by_sqrt_half_d_k", "Divided by sqrt(d_k / 2)", "scaled = scores / np.sqrt(d_k // 2)", SCALE),
    ("scale.by_sqrt_twice_d_k", "Divided by sqrt(2 d_k)", "scaled = scores / np.sqrt(2 * d_k)", SCALE),
    ("scale.by_log_d_k", "Divided by the logarithm of d_k", "scaled = scores / np.log(d_k)", SCALE),
    ("scale.root_rounded", "The square root is rounded to a whole number", "scaled = scores / int(np.sqrt(d_k))", SCALE),
    ("scale.cube_root", "Divided by the cube root of d_k", "scaled = scores / d_k ** (1 / 3)", SCALE),
    ("scale.by_sqrt_kv_width", "Divided by the root of the width of all key heads", "scaled = scores / np.sqrt(h_kv * d_k)", SCALE),
    ("scale.softcapped", "The scores are capped by tanh", "scaled = cap * np.tanh(scores / np.sqrt(d_k) / cap)", SCALE),
    ("scale.softcap_missing", "The soft cap on the scores is missing", SCALE, "scaled = cap * np.tanh(scores / np.sqrt(d_k) / cap)"),
    ("scale.after_softmax", "The weights are scaled, after softmax", "weights = softmax(scores) / np.sqrt(d_k)", "weights = softmax(scores / np.sqrt(d_k))", "FrancescoSaverioZuppichini/ViT#2"),
    ("scale.wrong_constant", "Another constant scales the scores, as with a softmax temperature", "scaled = scores * constant", SCALE),
    # mask
    ("mask.missing_causal", "The causal mask is missing", "masked = scaled", FILL, "facebookresearch/xformers#103", "alex-matton/causal-transformer-decoder#1"),
    ("mask.missing_padding", "The padding mask is missing", "allowed = np.tri(n_q, n_k, dtype=bool)", PADDING, "jingyaogong/minimind-v#76"),
    ("mask.missing", "The mask is not applied", "masked = scaled", FILL),
    ("mask.inverted", "The mask is inverted: it hides what it should show", "masked = np.where(allowed, -np.inf, scaled)", FILL,
     "pytorch/examples#649", "tensorflow/text#894", "hkproj/pytorch-transformer#19", "rasbt/LLMs-from-scratch#1061", "pytorch/pytorch#170400"),
    ("mask.strict_lower", "A position may not see itself: the diagonal is hidden", "allowed = np.tri(n_q, n_k, n_k - n_q - 1, dtype=bool)", CAUSAL, "pbloem/former#10", "RVC-Boss/GPT-SoVITS#965"),
    ("mask.peeks_one_ahead", "Each position sees one position ahead", "allowed = np.tri(n_q, n_k, n_k - n_q + 1, dtype=bool)", CAUSAL),
    ("mask.causal_shifted", "The causal triangle is shifted", "allowed = np.tri(n_q, n_k, n_k - n_q + 2, dtype=bool)", CAUSAL),
    ("mask.causal_top_left", "The triangle starts at the first key, not the last", "allowed = np.tri(n_q, n_k, dtype=bool)", CAUSAL,
     "pytorch/pytorch#108108", "pytorch/pytorch#144858", "ml-explore/mlx#2835"),
    ("mask.causal_lower_right", "The triangle ends at the last key, not the first", "allowed = np.tri(n_q, n_k, n_k - n_q, dtype=bool)", "allowed = np.tri(n_q, n_k, dtype=bool)"),
    ("mask.upper_triangle", "The triangle is upside down: each position sees the later ones", "allowed = np.tri(n_q, n_k, dtype=bool).T", CAUSAL),
    ("mask.causal_not_wanted", "A causal mask is applied where none was meant", "masked = np.where(np.tri(n_q, n_k, dtype=bool), scaled, -np.inf)", "masked = scaled"),
    ("mask.window_not_wanted", "Only keys near the query are seen", "allowed = causal & (np.abs(i - j) <= width)", "allowed = causal"),
    ("mask.other_cells", "The mask shows other pairs than those that were meant", "masked = np.where(other_mask, scaled, -np.inf)", FILL),
    ("mask.padding_on_query_axis", "The padding mask lies along the queries", "allowed = key_keep[:, None, :, None]", PADDING, "hyunwoongko/transformer#40", "bentrevett/pytorch-seq2seq#96"),
    ("mask.padding_wrong_side", "The padding is taken to be on the other side", "allowed = key_keep[:, None, None, ::-1]", PADDING),
    ("mask.padding_off_by_one", "The padding mask is one position off", "allowed = np.arange(n_k) <= lengths[:, None]", "allowed = np.arange(n_k) < lengths[:, None]"),
    ("mask.padding_wrong_entry", "A batch entry gets the padding mask of another one", "mask = np.tile(mask, (h, 1, 1))", "mask = mask.repeat(h, axis=0)"),
    ("mask.combined_with_or", "Two masks are joined by or", "allowed = causal | padding", "allowed = causal & padding"),
    ("mask.transposed", "The mask is transposed", "allowed = allowed.swapaxes(-1, -2)", FILL),
    ("mask.filled_with_zero", "Hidden scores are set to 0, a live score", "masked = scaled * allowed", FILL, "georg-wolflein/good-features#1"),
    ("mask.filled_with_one", "Hidden scores are set to 1", "masked = np.where(allowed, scaled, 1)", FILL),
    ("mask.filled_with_small_negative", "Hidden scores get a number that is not negative enough", "masked = np.where(allowed, scaled, -10)", FILL),
    ("mask.filled_with_positive", "Hidden scores get a positive number", "masked = np.where(allowed, scaled, 2)", FILL),
    ("mask.positive_fill", "The fill has lost its minus sign", "masked = np.where(allowed, scaled, 1e9)", FILL),
    ("mask.zero_one_added", "A mask of 0 and 1 is added to the scores", "masked = scaled + np.tri(n_q, n_k)", FILL, "pytorch/pytorch#21518"),
    ("mask.zero_times_infinity", "A 0/1 mask is multiplied by -inf: 0 · inf is NaN", "masked = scaled + (1 - mask) * -np.inf", FILL),
    ("mask.after_softmax", "The mask is applied after softmax, rows no longer sum to 1", "weights = softmax(scaled) * allowed", "weights = softmax(np.where(allowed, scaled, -np.inf))",
     "huggingface/pytorch-image-models#2236", "lucidrains/memory-compressed-attention#2"),
    ("mask.fully_masked_row", "Some rows have nothing they may attend to", "weights = softmax(masked)  # a row of -inf gives NaN", "weights = np.where(allowed.any(-1, keepdims=True), softmax(masked), 0)",
     "huggingface/transformers#17306", "pytorch/pytorch#41508", "pytorch/pytorch#103749"),
    # softmax
    ("softmax.axis_query", "Softmax runs over the queries, not the keys", "weights = softmax(masked, axis=-2)", SOFTMAX, "nerdai/llms-from-scratch-rs#30", "PetrochukM/PyTorch-NLP#2", "nerminnuraydogan/vision-transformer#1"),
    ("softmax.axis_heads", "Softmax runs over the heads", "weights = softmax(masked, axis=1)", SOFTMAX),
    ("softmax.axis_batch", "Softmax runs over the batch", "weights = softmax(masked, axis=0)", SOFTMAX),
    ("softmax.flattened", "Softmax runs over the whole matrix at once", "weights = softmax(masked.ravel()).reshape(masked.shape)", SOFTMAX, "nntrainer/nntrainer#1602"),
    ("softmax.missing", "Softmax is missing", "weights = masked", SOFTMAX),
    ("softmax.sum_of_scores", "Scores are divided by their sum, without exp", "weights = masked / masked.sum(-1, keepdims=True)", SOFTMAX),
    ("softmax.not_normalised", "The exponentials are not divided by their sum", "weights = np.exp(masked)", SUM),
    ("softmax.twice", "Softmax is applied twice", "weights = softmax(softmax(masked))", SOFTMAX),
    ("softmax.sigmoid", "A sigmoid in place of softmax", "weights = 1 / (1 + np.exp(-masked))", SOFTMAX),
    ("softmax.relu", "A ReLU in place of softmax", "weights = np.maximum(masked, 0)", SOFTMAX),
    ("softmax.log_softmax", "The logarithm of softmax", "weights = np.log(softmax(masked))", SOFTMAX),
    ("softmax.hard", "The largest score takes everything", "weights = masked == masked.max(-1, keepdims=True)", SOFTMAX),
    ("softmax.negated", "Softmax of the negative scores", "weights = softmax(-masked)", SOFTMAX),
    ("softmax.plus_one", "One is added to the sum", "weights = e / (1 + e.sum(-1, keepdims=True))", SUM),
    ("softmax.constant_added", "A constant is added to the sum, as a sink or a large epsilon does", "weights = e / (constant + e.sum(-1, keepdims=True))", SUM),
    ("softmax.sink_missing", "The constant in the sum (the sink) is missing", SUM, "weights = e / (constant + e.sum(-1, keepdims=True))"),
    ("softmax.softplus", "A softplus in place of exp", "weights = np.log1p(np.exp(masked))", SOFTMAX),
    ("softmax.squares", "Squares in place of exponentials", "weights = masked**2 / (masked**2).sum(-1, keepdims=True)", SOFTMAX),
    ("softmax.divided_by_norm", "Divided by the length of the row, not by its sum", "weights = e / np.linalg.norm(e, axis=-1, keepdims=True)", SUM),
    ("softmax.max_over_queries", "The maximum runs over the queries", "e = np.exp(masked - masked.max(-2, keepdims=True))", EXP),
    ("softmax.linear", "Features of q and k in place of softmax: linear attention", "weights = phi(q) @ phi(k).swapaxes(-1, -2)", SOFTMAX),
    ("softmax.top_k", "Only the best few keys are kept", "masked = np.where(masked >= kth_largest, masked, -np.inf)", "masked = masked"),
    ("softmax.no_keepdims", "Row sums or row maxima broadcast along the wrong axis", "weights = e / e.sum(-1)", SUM),
    ("softmax.sum_over_queries", "The sum runs over the queries, the maximum over the keys", "weights = e / e.sum(-2, keepdims=True)", SUM),
    ("softmax.no_max_subtraction", "exp overflows: the row's maximum is not subtracted", "e = np.exp(masked)", EXP, "pytorch/executorch#18407"),
    ("softmax.base_two", "Powers of 2 in place of powers of e", "e = np.exp2(masked - masked.max(-1, keepdims=True))", EXP),
    ("softmax.base_ten", "Powers of 10 in place of powers of e", "e = 10 ** (masked - masked.max(-1, keepdims=True))", EXP),
    ("softmax.weights_rooted", "The root of the weights is taken", "weights = np.sqrt(softmax(masked))", SOFTMAX),
    ("softmax.weights_squared", "The weights are squared", "weights = softmax(masked) ** 2", SOFTMAX),
    # blend
    ("blend.weights_transposed", "The weights are transposed", "out = weights.swapaxes(-1, -2) @ v", BLEND, "leaderj1001/BottleneckTransformers#14"),
    ("blend.k_used_as_v", "The keys are blended, not the values", "out = weights @ k", BLEND, "yflyzhang/AnnotatedTransformer#1"),
    ("blend.q_used_as_v", "The queries are blended, not the values", "out = weights @ q", BLEND),
    ("blend.returns_v", "The values come back untouched", "out = v", BLEND, "pytorch-tpu/transformers#34"),
    ("blend.residual_added", "The input is added to the output", "out = weights @ v + q", BLEND, "hearai/hearai#58"),
    ("blend.residual_subtracted", "The queries are subtracted from the output", "out = weights @ v - q", BLEND),
    ("blend.dropout_active", "Dropout was left on", "weights = dropout(weights, p)", "weights = dropout(weights, p if training else 0)",
     "karpathy/nanoGPT#240", "huggingface/pytorch-image-models#1978", "pytorch/pytorch#124464"),
    ("blend.mean_of_v", "Every query gets the plain average of the values", "out = v.mean(-2, keepdims=True)", BLEND),
    ("blend.sum_of_v", "Every query gets the plain sum of the values", "out = v.sum(-2, keepdims=True)", BLEND),
    ("blend.v_reversed", "The values are in reverse order", "out = weights @ v[..., ::-1, :]", BLEND),
    ("blend.v_shifted", "Keys and values are one position apart", "out = weights @ np.roll(v, 1, axis=-2)", BLEND),
    ("blend.v_wrong_entry", "The values of another batch entry", "out = weights @ v[::-1]", BLEND),
    ("blend.v_wrong_head", "The values of another head", "out = weights @ v[:, ::-1]", BLEND),
    ("blend.v_transposed", "The values are transposed", "out = weights @ v.swapaxes(-1, -2)", BLEND),
    ("blend.v_reshaped", "The values are reshaped where they should stay", "out = weights @ v.swapaxes(-1, -2).reshape(v.shape)", BLEND),
    ("blend.channels_reversed", "The channels of the output are in reverse order", "out = (weights @ v)[..., ::-1]", BLEND),
    ("blend.output_reshaped", "The output is reshaped where it should stay", "out = (weights @ v).swapaxes(-1, -2).reshape(B, h, T, d_v)", BLEND),
    ("blend.output_rectified", "Negative outputs are set to 0", "out = np.maximum(weights @ v, 0)", BLEND),
    ("blend.normalised", "The values or the output are normalised", "out = out / np.linalg.norm(out, axis=-1, keepdims=True)", BLEND),
    ("blend.negated", "The output has the wrong sign", "out = -(weights @ v)", BLEND),
    ("blend.divided_by_n_keys", "A mean over the keys in place of a sum", "out = (weights[..., None] * v[..., None, :, :]).mean(-2)", BLEND),
    ("blend.output_scaled", "The output is multiplied by a constant", "out = constant * (weights @ v)", BLEND),
    # heads
    ("heads.split_without_transpose", "The heads are cut by a reshape alone", "q = q.reshape(B, h, T, d_k)", SPLIT, "reczoo/FuxiCTR#30", "649453932/Chinese-Text-Classification-Pytorch#53"),
    ("heads.split_interleaved", "Head i gets every h-th channel", "q = q.reshape(B, T, d_k, h).transpose(0, 3, 1, 2)", SPLIT),
    ("heads.not_split", "The width is not cut into heads", "q = q[:, None]", SPLIT),
    ("heads.merge_without_transpose", "The heads are joined by a reshape alone", "out = heads.reshape(B, T, h * d_v)", MERGE, "jsbaan/transformer-from-scratch#6", "ajhalthor/Transformer-Neural-Network#4"),
    ("heads.merge_interleaved", "The heads' channels are interleaved", "out = heads.transpose(0, 2, 3, 1).reshape(B, T, d_v * h)", MERGE),
    ("heads.order_reversed", "The heads are in reverse order", "out = heads[:, ::-1]", MERGE),
    ("heads.split_wrong_transpose", "The wrong axes are swapped before the heads are cut", "q = q.swapaxes(1, 2).reshape(B, h, T, d_k)", SPLIT),
    ("heads.merge_wrong_transpose", "The wrong axes are swapped before the heads are joined", "out = heads.swapaxes(-1, -2).reshape(B, T, h * d_v)", MERGE),
    ("heads.joint_cut", "A joint q, k, v projection is cut by head first", "q, k, v = np.split(qkv.reshape(B, T, h, 3 * d_k), 3, axis=-1)", "q, k, v = np.split(qkv, 3, axis=-1)"),
    ("heads.first_head_only", "The first head's weights serve all heads", "weights = weights[:, :1]", "weights = weights  # each head its own"),
    ("heads.outputs_averaged", "The heads' outputs are averaged or summed", "out = heads.mean(1, keepdims=True)", MERGE),
    ("heads.attends_over_heads", "Attention runs between the heads of one position", "q = q.reshape(B, T, h, d_k)  # no transpose", SPLIT, "NVlabs/FoundationStereo#217"),
    ("heads.batch_first", "Attention runs over the batch: batch and sequence are swapped", "q = q.swapaxes(0, 1)  # (T, B, d) read as (B, T, d)", "q = q  # (B, T, d)", "aipixel/AEMatter#3", "pytorch/pytorch#122959"),
    ("heads.gqa_tiled", "Grouped key heads are tiled 0 1 0 1, not repeated 0 0 1 1", "k = np.tile(k, (1, h // h_kv, 1, 1))", GROUP, "onnx/onnx#7274", "ekzhang/jax-js#180"),
    ("heads.gqa_first_head_only", "Every query head uses the first key head", "k = k[:, :1]", GROUP),
    ("heads.gqa_wrong_group", "Query heads use another group's key head", "k = k[:, ::-1].repeat(h // h_kv, axis=1)", GROUP),
    ("heads.gqa_averaged", "The key heads are averaged", "k = k.mean(1, keepdims=True)", GROUP),
    ("heads.weights_averaged", "The weights are averaged over the heads", "weights = weights.mean(1, keepdims=True)", "weights = weights  # each head its own", "pytorch/pytorch#34537", "pytorch/pytorch#47583", "pytorch/pytorch#70055"),
    ("heads.scores_summed", "The scores are summed over the heads", 'scores = np.einsum("bhid,bhjd->bij", q, k)', 'scores = np.einsum("bhid,bhjd->bhij", q, k)'),
    # projection
    ("projection.w_transposed", "A projection is transposed", "q = x @ w_q.T", PROJECT),
    ("projection.one_matrix_for_all", "One matrix serves for several projections", "q, k, v = x @ w_q, x @ w_q, x @ w_q", PROJECT),
    ("projection.missing", "A projection is missing", "q, k, v = x, x, x", PROJECT),
    ("projection.bias_missing", "The bias of a projection is missing", "q = x @ w_q", "q = x @ w_q + b_q"),
    ("projection.wo_missing", "The output projection is missing", "out = concat", OUT, "Kyubyong/transformer#17", "Kyubyong/transformer#117", "jwallbridge/translob#4"),
    ("projection.wo_wrong", "Another projection stands in for W_O", "out = concat @ w_v", OUT),
    ("projection.wo_transposed", "The output projection is transposed", "out = concat @ w_o.T", OUT),
    ("projection.wo_twice", "The output projection is applied twice", "out = concat @ w_o @ w_o", OUT),
)  # fmt: skip

FAULTS: tuple[Fault, ...] = tuple(Fault(*row[:4], stories=tuple(row[4:])) for row in _ROWS)
_BY_LABEL = {fault.label: fault for fault in FAULTS}

#: why an input cannot be examined, by label
BAD_INPUT = {
    "input.shape_mismatch": "The shapes do not fit together",
    "input.nan_in_inputs": "The inputs hold NaN",
    "input.inf_in_inputs": "The inputs hold an infinity",
    "input.empty": "An axis is empty",
    "input.missing_array": "An array is missing",
    "input.duplicate_array": "An array is there twice",
    "input.wrong_dtype": "An array does not hold numbers of a known kind",
    "input.meta": "The settings in the file cannot be read",
    "input.not_a_zip": "The file is not a complete .npz archive",
    "input.pickled": "The file holds Python objects, which are never loaded",
    "input.too_large": "The file is larger than the limit",
    "input.malformed": "The file is damaged or not of the kind its name says",
    "input.unknown_type": "The file is of a kind that is not read here",
    "input.unreadable": "The file cannot be opened",
}


def fault_named(label: str) -> Fault:
    """The fault of that label; KeyError if there is none."""
    return _BY_LABEL[label]
