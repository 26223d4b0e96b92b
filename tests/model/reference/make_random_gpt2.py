"""Writes a GPT-2 of any shape with random weights as a Hugging Face folder. Same arguments, same bytes."""
import json

import numpy as np

import safetensors_io


def shapes(layers, d_model, ctx, vocab):
    """(name, shape) of every tensor, in Hugging Face's order."""
    inner = 4 * d_model
    yield "wte.weight", (vocab, d_model)
    yield "wpe.weight", (ctx, d_model)
    for layer in range(layers):
        h = f"h.{layer}."
        for name, shape in (
            ("ln_1.weight", (d_model,)), ("ln_1.bias", (d_model,)),
            ("attn.c_attn.weight", (d_model, 3 * d_model)), ("attn.c_attn.bias", (3 * d_model,)),
            ("attn.c_proj.weight", (d_model, d_model)), ("attn.c_proj.bias", (d_model,)),
            ("ln_2.weight", (d_model,)), ("ln_2.bias", (d_model,)),
            ("mlp.c_fc.weight", (d_model, inner)), ("mlp.c_fc.bias", (inner,)),
            ("mlp.c_proj.weight", (inner, d_model)), ("mlp.c_proj.bias", (d_model,)),
        ):
            yield h + name, shape
    yield "ln_f.weight", (d_model,)
    yield "ln_f.bias", (d_model,)


def random_tensor(name, shape, seed, layers, sharpness):
    """One tensor, float32, from its own stream of numbers. Queries and keys are scaled by `sharpness`, so that patterns are peaked,
    and every position's embedding has one dimension far larger than the others, as trained models have."""
    random = np.random.default_rng([seed, *name.encode()])
    values = random.standard_normal(shape, dtype=np.float32)
    kind = name.rsplit(".", 1)[1]
    if ".ln_" in name or name.startswith("ln_"):
        return 0.1 * values + (1 if kind == "weight" else 0)
    if kind == "bias":
        return 0.1 * values
    if name == "wte.weight":
        return 0.2 * values
    if name == "wpe.weight":
        values *= 0.2
        values[:, 3] += 8
        return values
    values *= shape[0] ** -0.5
    if name.endswith("attn.c_attn.weight"):
        values[:, : 2 * shape[1] // 3] *= sharpness
    if name.endswith("c_proj.weight"):
        values *= (2 * layers) ** -0.5
    return values


def make(out, layers=12, heads=12, d_model=768, ctx=1024, vocab=50257, seed=1, sharpness=2.5):
    out.mkdir(parents=True, exist_ok=True)
    config = {
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": layers, "n_head": heads,
        "n_embd": d_model, "n_ctx": ctx, "n_positions": ctx, "vocab_size": vocab,
        "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
        "bos_token_id": vocab - 1, "eos_token_id": vocab - 1,
    }
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    safetensors_io.write(
        out / "model.safetensors",
        [(name, "F32", shape, lambda name=name, shape=shape: random_tensor(name, shape, seed, layers, sharpness))
         for name, shape in shapes(layers, d_model, ctx, vocab)],
        {"format": "pt"})
