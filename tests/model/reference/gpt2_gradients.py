"""The derivatives of a metric of GPT-2 in float64, by reverse mode, written out from gpt2_reference's pass and in numpy alone.

    gradients(config, weights, tokens, d_logits) -> {name: array}, under the names of the activations

d_logits: a function from the logits, [pos, vocab], to the derivatives of the metric with respect to them. As in TransformerLens
the derivative at a hook is that of everything that comes after it.
"""
import math

import numpy as np

import gpt2_reference
from gpt2_reference import Recorder, erf, softmax


def logistic(x):
    return 1 / (1 + np.exp(-x))


def gelu_new_slope(x):
    root = math.sqrt(2 / math.pi)
    t = np.tanh(root * (x + 0.044715 * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t**2) * root * (1 + 3 * 0.044715 * x**2)


SLOPES = {
    "gelu_new": gelu_new_slope,
    "gelu": lambda x: 0.5 * (1 + erf(x / math.sqrt(2))) + x * np.exp(-x**2 / 2) / math.sqrt(2 * math.pi),
    "relu": lambda x: (x > 0).astype(np.float64),
    "silu": lambda x: logistic(x) * (1 + x * (1 - logistic(x))),
    "tanh": lambda x: 1 - np.tanh(x)**2,
}


def of_layer_norm(record, a, name, d_out, gain):
    """From the derivatives of a layer norm's output to those of its input."""
    normalized, scale = a[f"{name}.hook_normalized"], a[f"{name}.hook_scale"]
    d_normalized = record(f"{name}.hook_normalized", d_out * gain)
    d_scale = record(f"{name}.hook_scale", -(d_normalized * normalized).sum(axis=-1, keepdims=True) / scale)
    d_centered = d_normalized / scale + d_scale * normalized / normalized.shape[-1]
    return d_centered - d_centered.mean(axis=-1, keepdims=True)


def gradients(config, weights, tokens, d_logits, keep=lambda name: True, activations=None):
    """`activations`: those of gpt2_reference.run, all of them, if they are known."""
    w = {name.removeprefix("transformer."): value.astype(np.float64, copy=False) for name, value in weights.items()}
    a = activations or gpt2_reference.run(config, weights, tokens)
    heads, d_model, length = config["n_head"], config["n_embd"], len(tokens)
    slope = SLOPES[config.get("activation_function", "gelu_new")]
    record = Recorder()

    unembedding = w["wte.weight"] if config.get("tie_word_embeddings", True) else w["lm_head.weight"]
    d_end = record("logits", d_logits(a["logits"])) @ unembedding
    d_resid = of_layer_norm(record, a, "ln_final", d_end, w["ln_f.weight"])
    for layer in reversed(range(config["n_layer"])):
        h, block = f"h.{layer}.", f"blocks.{layer}."
        record(block + "hook_resid_post", d_resid), record(block + "hook_mlp_out", d_resid)
        d_post = record(block + "mlp.hook_post", d_resid @ w[h + "mlp.c_proj.weight"].T)
        d_pre = record(block + "mlp.hook_pre", d_post * slope(a[block + "mlp.hook_pre"]))
        d_resid = d_resid + of_layer_norm(record, a, block + "ln2", d_pre @ w[h + "mlp.c_fc.weight"].T, w[h + "ln_2.weight"])

        record(block + "hook_resid_mid", d_resid), record(block + "hook_attn_out", d_resid)
        if keep(block + "attn.hook_result"):
            record(block + "attn.hook_result", np.repeat(d_resid[:, None, :], heads, axis=1))
        projection = w[h + "attn.c_proj.weight"].reshape(heads, -1, d_model)
        d_z = record(block + "attn.hook_z", np.einsum("qm,hdm->qhd", d_resid, projection, optimize=True))
        q, k, v, pattern = (a[f"{block}attn.hook_{name}"] for name in ("q", "k", "v", "pattern"))
        d_pattern = record(block + "attn.hook_pattern", np.einsum("qhd,khd->hqk", d_z, v))
        d_v = record(block + "attn.hook_v", np.einsum("hqk,qhd->khd", pattern, d_z))
        mean = (pattern * d_pattern).sum(axis=-1, keepdims=True)
        d_scores = record(block + "attn.hook_attn_scores", pattern * (d_pattern - mean))
        scale = 1.0
        if config.get("scale_attn_weights", True):
            scale /= math.sqrt(d_model // heads)
        if config.get("scale_attn_by_inverse_layer_idx", False):
            scale /= layer + 1
        d_q = record(block + "attn.hook_q", np.einsum("hqk,khd->qhd", d_scores, k) * scale)
        d_k = record(block + "attn.hook_k", np.einsum("hqk,qhd->khd", d_scores, q) * scale)
        d_qkv = np.concatenate([part.reshape(length, d_model) for part in (d_q, d_k, d_v)], axis=-1)
        d_resid = d_resid + of_layer_norm(record, a, block + "ln1", d_qkv @ w[h + "attn.c_attn.weight"].T,
                                          w[h + "ln_1.weight"])
        record(block + "hook_resid_pre", d_resid)
    record("hook_embed", d_resid), record("hook_pos_embed", d_resid)
    return {name: value for name, value in record.items() if keep(name)}


def loss(tokens):
    def d_logits(logits):
        result = softmax(logits)
        result[np.arange(len(tokens) - 1), tokens[1:]] -= 1
        result[-1] = 0
        return result / (len(tokens) - 1)
    return d_logits
