#!/usr/bin/env python3
"""Writes tests/model/goldens: small random GPT-2s and every activation that the reference computes with them.

    make_goldens.py            (takes a few seconds; needs numpy)

A folder each: config.json, model.safetensors, and goldens.safetensors with `tokens` and all activations; where matrices
are to be kept in 16 bits, goldens.f16.safetensors and goldens.bf16.safetensors as well.
"""
import json
from pathlib import Path

import numpy as np

import gpt2_reference
import safetensors_io
from make_random_gpt2 import shapes

GOLDENS = Path(__file__).resolve().parent.parent / "goldens"

BASE = {"model_type": "gpt2", "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"}

# name: (changes to the configuration, dtype, prefix, lm_head: none | copy | own | only, tokens, 16-bit goldens)
CASES = {
    "plain": (dict(n_layer=2, n_head=3, n_embd=21, n_positions=80, vocab_size=301), "F32", "", "none", 70, False),
    "full_context": (dict(n_layer=2, n_head=3, n_embd=24, n_positions=19, vocab_size=67), "F32", "", "none", 19, True),
    "one_token": (dict(n_layer=2, n_head=2, n_embd=12, n_positions=8, vocab_size=31), "F32", "", "none", 1, False),
    "untied": (dict(n_layer=2, n_head=2, n_embd=16, n_positions=16, vocab_size=53, tie_word_embeddings=False,
                    activation_function="gelu", layer_norm_epsilon=1e-3), "F32", "transformer.", "own", 9, False),
    "tied_copy": (dict(n_layer=2, n_head=5, n_embd=15, n_positions=12, vocab_size=40, activation_function="relu"),
                  "F16", "transformer.", "copy", 12, False),
    "inverse_layer": (dict(n_layer=4, n_head=2, n_embd=14, n_positions=24, vocab_size=50, n_inner=17,
                           scale_attn_by_inverse_layer_idx=True, activation_function="silu"),
                      "BF16", "", "none", 17, False),
    "unscaled": (dict(n_layer=2, n_head=2, n_embd=16, n_positions=20, vocab_size=37, n_inner=530,
                      scale_attn_weights=False, activation_function="tanh"),
                 "F32", "", "only", 11, True),
    "wide": (dict(n_layer=2, n_head=3, n_embd=66, n_positions=16, vocab_size=60, n_inner=None), "F16",
             "transformer.", "none", 13, False),
}

OUTLIER = 3  # the residual dimension that is far larger than the others


def random_weights(config, lm_head, random):
    layers, d_model = config["n_layer"], config["n_embd"]
    d_head = d_model // config["n_head"]
    weights = {}
    for name, shape in shapes(layers, d_model, config["n_positions"], config["vocab_size"], config.get("n_inner")):
        values = random.standard_normal(shape)
        if ".ln_" in name or name.startswith("ln_f"):
            values = 0.2 * values + (1 if name.endswith("weight") else 0)
        elif name.endswith("bias"):
            values *= 0.2
        elif name in ("wte.weight", "wpe.weight"):
            values *= 0.6
        else:
            values *= shape[0] ** -0.5
        if name.endswith("c_proj.weight"):
            values *= 0.6
        if name.endswith("attn.c_attn.weight"):
            # Scores of a spread that makes some weights large, whatever they are multiplied by.
            layer = int(name.split(".")[1])
            scale = d_head**-0.5 if config.get("scale_attn_weights", True) else 1.0
            scale /= layer + 1 if config.get("scale_attn_by_inverse_layer_idx", False) else 1
            values[:, : 2 * d_model] *= np.sqrt(10 / (scale * np.sqrt(d_head)))
        if name == "wpe.weight":
            values[:, OUTLIER] += 12
        weights[name] = values
    if lm_head == "own":
        weights["lm_head.weight"] = random.standard_normal((config["vocab_size"], d_model))
    return weights


def is_kept_in_16_bits(name):
    """Which tensors `--precision f16` rounds: those that products are made with."""
    return name.endswith(".weight") and "ln_" not in name and name != "wpe.weight"


def write_model(folder, config, weights, dtype, prefix, lm_head):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    tensors = []
    for name, values in weights.items():
        if name == "wte.weight" and lm_head == "only":
            name = "lm_head.weight"
        full_name = name if name == "lm_head.weight" else prefix + name
        tensors.append((full_name, dtype, values.shape, lambda values=values: values))
    if lm_head == "copy":
        tensors.append(("lm_head.weight", dtype, weights["wte.weight"].shape, lambda: weights["wte.weight"]))
    safetensors_io.write(folder / "model.safetensors", tensors, {"format": "pt"})


def write_goldens(file, config, weights, tokens):
    activations = gpt2_reference.run(config, weights, tokens)
    records = [("tokens", "I64", (len(tokens),), lambda: np.array(tokens))]
    records += [(name, "F32", value.shape, lambda value=value: value) for name, value in activations.items()]
    safetensors_io.write(file, records)
    return activations


def describe(name, activations, layers):
    patterns = [activations[f"blocks.{layer}.attn.hook_pattern"][:, 1:] for layer in range(layers)]
    peaks = [f"{(p.max(-1) > 0.5).mean():.2f}" if p.size else "-" for p in patterns]
    size = np.abs(activations[f"blocks.{layers - 1}.hook_resid_post"]).mean(0)
    print(f"{name:14} rows above 0.5 by layer: {' '.join(peaks)}   outlier {size[OUTLIER] / np.median(size):.1f}"
          f"   logits up to {np.abs(activations['logits']).max():.1f}")


def main():
    for seed, (name, (changes, dtype, prefix, lm_head, length, sixteen)) in enumerate(CASES.items()):
        config = {**BASE, **changes}
        random = np.random.default_rng(1000 + seed)
        weights = random_weights(config, lm_head, random)
        weights = {key: safetensors_io.rounded(value, dtype) for key, value in weights.items()}
        folder = GOLDENS / name
        write_model(folder, config, weights, dtype, prefix, lm_head)
        tokens = [int(token) for token in random.integers(0, config["vocab_size"], length)]
        tokens[0] = config["vocab_size"] - 1
        activations = write_goldens(folder / "goldens.safetensors", config, weights, tokens)
        for kept in ("F16", "BF16") if sixteen else ():
            rounded = {key: safetensors_io.rounded(value, kept) if is_kept_in_16_bits(key) else value
                       for key, value in weights.items()}
            write_goldens(folder / f"goldens.{kept.lower()}.safetensors", config, rounded, tokens)
        describe(name, activations, config["n_layer"])


if __name__ == "__main__":
    main()
