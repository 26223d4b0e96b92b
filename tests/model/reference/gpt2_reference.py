"""GPT-2 in float64, written from the papers (Radford et al. 2019; Vaswani et al. 2017; Ba et al. 2016; Hendrycks & Gimpel
2016) and the published meaning of Hugging Face's configuration keys. It shares no code with the program: every
sum is numpy's, and there is one plain full pass without chunks or caches.

    run(config, weights, tokens) -> {name: array}, every activation under its TransformerLens name
"""
import math

import numpy as np


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def tanh_gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS = {
    "gelu_new": tanh_gelu,
    "gelu": lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))),
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "tanh": np.tanh,
}


def softmax(x):
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


class Recorder(dict):
    """Keeps each activation under its name and gives it back."""

    def __call__(self, name, value):
        self[name] = value
        return value


def layer_norm(record, name, x, gain, bias, epsilon):
    centered = x - x.mean(axis=-1, keepdims=True)
    scale = record(f"{name}.hook_scale", np.sqrt((centered**2).mean(axis=-1, keepdims=True) + epsilon))
    return record(f"{name}.hook_normalized", centered / scale) * gain + bias


def run(config, weights, tokens, keep=lambda name: True):
    """weights: float arrays under Hugging Face's names without the prefix `transformer.`."""
    w = {name.removeprefix("transformer."): value for name, value in weights.items()}
    w = {name: value.astype(np.float64, copy=False) for name, value in w.items()}
    heads, d_model = config["n_head"], config["n_embd"]
    d_head, epsilon = d_model // heads, config.get("layer_norm_epsilon", 1e-5)
    activation = ACTIVATIONS[config.get("activation_function", "gelu_new")]
    length = len(tokens)
    record = Recorder()

    resid = record("hook_embed", w["wte.weight"][tokens]) + record("hook_pos_embed", w["wpe.weight"][:length])
    for layer in range(config["n_layer"]):
        h, block = f"h.{layer}.", f"blocks.{layer}."
        record(block + "hook_resid_pre", resid)
        x = layer_norm(record, block + "ln1", resid, w[h + "ln_1.weight"], w[h + "ln_1.bias"], epsilon)
        qkv = x @ w[h + "attn.c_attn.weight"] + w[h + "attn.c_attn.bias"]
        q, k, v = (part.reshape(length, heads, d_head) for part in np.split(qkv, 3, axis=-1))
        record(block + "attn.hook_q", q), record(block + "attn.hook_k", k), record(block + "attn.hook_v", v)

        scale = 1.0
        if config.get("scale_attn_weights", True):
            scale /= math.sqrt(d_head)
        if config.get("scale_attn_by_inverse_layer_idx", False):
            scale /= layer + 1
        scores = np.einsum("qhd,khd->hqk", q, k) * scale
        scores[:, np.triu(np.ones((length, length), dtype=bool), 1)] = -np.inf
        record(block + "attn.hook_attn_scores", scores)
        pattern = record(block + "attn.hook_pattern", softmax(scores))
        z = record(block + "attn.hook_z", np.einsum("hqk,khd->qhd", pattern, v))
        projection = w[h + "attn.c_proj.weight"].reshape(heads, d_head, d_model)
        if keep(block + "attn.hook_result"):
            record(block + "attn.hook_result", np.einsum("qhd,hdm->qhm", z, projection))
        attention = np.einsum("qhd,hdm->qm", z, projection, optimize=True) + w[h + "attn.c_proj.bias"]
        resid = record(block + "hook_resid_mid", resid + record(block + "hook_attn_out", attention))

        x = layer_norm(record, block + "ln2", resid, w[h + "ln_2.weight"], w[h + "ln_2.bias"], epsilon)
        pre = record(block + "mlp.hook_pre", x @ w[h + "mlp.c_fc.weight"] + w[h + "mlp.c_fc.bias"])
        post = record(block + "mlp.hook_post", activation(pre))
        out = record(block + "hook_mlp_out", post @ w[h + "mlp.c_proj.weight"] + w[h + "mlp.c_proj.bias"])
        resid = record(block + "hook_resid_post", resid + out)

    x = layer_norm(record, "ln_final", resid, w["ln_f.weight"], w["ln_f.bias"], epsilon)
    unembedding = w["wte.weight"] if config.get("tie_word_embeddings", True) else w["lm_head.weight"]
    record("logits", x @ unembedding.T)
    return {name: value for name, value in record.items() if keep(name)}
