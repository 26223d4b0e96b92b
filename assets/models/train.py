#!/usr/bin/python3
"""Train a small GPT-2 from one text file, and measure it.

    train.py train    --text tales.txt --heldout heldout.txt --out tales --minutes 120
    train.py evaluate --model tales --heldout heldout.txt

`train` learns a byte-level BPE, trains the model for the given wall-clock time, and writes a folder in Hugging Face's
layout: config.json, vocab.json, merges.txt, model.safetensors (F16), and figures.json. `evaluate` measures such a folder
again and prints the figures.
The text holds documents with `<|endoftext|>` between them.

It needs PyTorch, NumPy and regex (Debian: python3-torch python3-numpy python3-regex). A GPU is used where there is one. On
two CPU cores set OMP_WAIT_POLICY=passive when other programs want the cores too.
"""

import argparse
import json
import math
import os
import struct
import time
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Sequence, Set, Tuple

import numpy as np
import regex
import torch
import torch.nn as nn
import torch.nn.functional as F

END = "<|endoftext|>"
# GPT-2's own expression: text is cut into these pieces first, and no merge ever crosses a cut.
PIECES = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
HEAD_SEEDS = range(8)


# ---------------------------------------------------------------------------------------------------------- tokenizer

def byte_symbols() -> Dict[int, str]:
    """GPT-2's printable stand-in for each byte, in the order in which its vocabulary lists them."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    symbols = {byte: chr(byte) for byte in printable}
    for offset, byte in enumerate(byte for byte in range(256) if byte not in symbols):
        symbols[byte] = chr(256 + offset)
    return symbols


def merge_pair(symbols: Sequence[str], pair: Tuple[str, str]) -> List[str]:
    merged: List[str] = []
    at = 0
    while at < len(symbols):
        if tuple(symbols[at:at + 2]) == pair:
            merged.append(symbols[at] + symbols[at + 1])
            at += 2
        else:
            merged.append(symbols[at])
            at += 1
    return merged


def learn_merges(text: str, count: int) -> List[Tuple[str, str]]:
    """Byte pair encoding: merge the most frequent neighbours, again and again. Ties go to the smaller pair."""
    table = byte_symbols()
    pieces = Counter(piece for document in text.split(END) for piece in PIECES.findall(document))
    words = [[table[byte] for byte in piece.encode()] for piece in pieces]
    weights = list(pieces.values())
    frequency: Counter = Counter()
    where: Dict[Tuple[str, str], Set[int]] = defaultdict(set)
    for index, word in enumerate(words):
        for pair in zip(word, word[1:]):
            frequency[pair] += weights[index]
            where[pair].add(index)

    merges: List[Tuple[str, str]] = []
    while len(merges) < count:
        best = min(frequency, key=lambda pair: (-frequency[pair], pair))
        merges.append(best)
        for index in where.pop(best):
            for pair in zip(words[index], words[index][1:]):
                frequency[pair] -= weights[index]
            words[index] = merge_pair(words[index], best)
            for pair in zip(words[index], words[index][1:]):
                frequency[pair] += weights[index]
                where[pair].add(index)
        del frequency[best]
    return merges


class Tokenizer:
    """Byte-level BPE in GPT-2's file format; END is the last id."""

    def __init__(self, merges: Sequence[Tuple[str, str]]) -> None:
        self.merges = list(merges)
        self.ranks = {pair: rank for rank, pair in enumerate(self.merges)}
        self.bytes_as = byte_symbols()
        tokens = [*self.bytes_as.values(), *(left + right for left, right in self.merges), END]
        self.ids = {token: index for index, token in enumerate(tokens)}
        self.tokens = tokens
        self.end = self.ids[END]
        self.cache: Dict[str, List[int]] = {}

    @classmethod
    def train(cls, text: str, vocabulary: int) -> "Tokenizer":
        return cls(learn_merges(text, vocabulary - 256 - 1))

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        lines = (folder / "merges.txt").read_text(encoding="utf-8").split("\n")
        pairs = [tuple(line.split(" ")) for line in lines if line and not line.startswith("#version")]
        tokenizer = cls(pairs)
        if json.loads((folder / "vocab.json").read_text(encoding="utf-8")) != tokenizer.ids:
            raise SystemExit(f"{folder}: vocab.json is not the one that merges.txt gives")
        return tokenizer

    def save(self, folder: Path) -> None:
        (folder / "vocab.json").write_text(json.dumps(self.ids, ensure_ascii=False), encoding="utf-8")
        lines = ["#version: 0.2", *(f"{left} {right}" for left, right in self.merges)]
        (folder / "merges.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def encode_piece(self, piece: str) -> List[int]:
        if piece not in self.cache:
            symbols = [self.bytes_as[byte] for byte in piece.encode()]
            while len(symbols) > 1:
                best = min(zip(symbols, symbols[1:]), key=lambda pair: self.ranks.get(pair, math.inf))
                if best not in self.ranks:
                    break
                symbols = merge_pair(symbols, best)
            self.cache[piece] = [self.ids[symbol] for symbol in symbols]
        return self.cache[piece]

    def encode(self, text: str) -> np.ndarray:
        ids: List[int] = []
        for index, document in enumerate(text.split(END)):
            if index:
                ids.append(self.end)
            for piece in PIECES.findall(document):
                ids.extend(self.encode_piece(piece))
        return np.array(ids, dtype=np.int64)

    def byte_lengths(self) -> np.ndarray:
        """How many bytes of text each id stands for (every symbol of a token is one byte)."""
        return np.array([len(token) if token != END else len(END) for token in self.tokens])


# -------------------------------------------------------------------------------------------------------------- model

@dataclass
class Config:
    n_layer: int = 6
    n_head: int = 6
    n_embd: int = 192
    n_ctx: int = 256
    vocab_size: int = 1024

    def to_json(self) -> str:
        end = self.vocab_size - 1
        return json.dumps({
            "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], **asdict(self), "n_positions": self.n_ctx,
            "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "bos_token_id": end, "eos_token_id": end,
        }, indent=2) + "\n"

    @classmethod
    def load(cls, folder: Path) -> "Config":
        values = json.loads((folder / "config.json").read_text())
        return cls(**{key: values[key] for key in asdict(cls())})


class Conv1D(nn.Module):
    """GPT-2's linear layer, whose weight is stored [in, out]."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.weight.t(), self.bias)


class Attention(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.n_head = config.n_head
        self.c_attn = Conv1D(config.n_embd, 3 * config.n_embd)
        self.c_proj = Conv1D(config.n_embd, config.n_embd)

    def forward(self, x: torch.Tensor, mask: torch.Tensor, patterns: Optional[List[torch.Tensor]]) -> torch.Tensor:
        rows, positions, width = x.shape
        # [rows * heads, positions, width of a head]: one batched product over all heads of all rows
        q, k, v = (part.reshape(rows, positions, self.n_head, -1).transpose(1, 2).flatten(0, 1)
                   for part in self.c_attn(x).split(width, dim=2))
        # Mask and scale in the product itself: at this size, passes over the scores cost more than the products do.
        scores = torch.baddbmm(mask.to(q.dtype).expand(len(q), -1, -1), q, k.transpose(1, 2),
                               alpha=(width // self.n_head) ** -0.5)
        pattern = scores.softmax(dim=-1)
        if patterns is not None:
            patterns.append(pattern.view(rows, self.n_head, positions, positions))
        mixed = (pattern @ v).view(rows, self.n_head, positions, -1).transpose(1, 2)
        return self.c_proj(mixed.reshape(rows, positions, width))


class MLP(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.c_fc = Conv1D(width, 4 * width)
        self.c_proj = Conv1D(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # tanh is "gelu_new". In float32 because PyTorch's bfloat16 gelu is half as fast on a CPU.
        return self.c_proj(F.gelu(self.c_fc(x).float(), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd)
        self.attn = Attention(config)
        self.ln_2 = nn.LayerNorm(config.n_embd)
        self.mlp = MLP(config.n_embd)

    def forward(self, x: torch.Tensor, mask: torch.Tensor, patterns: Optional[List[torch.Tensor]]) -> torch.Tensor:
        x = x + self.attn(self.ln_1(x), mask, patterns)
        return x + self.mlp(self.ln_2(x))


class GPT2(nn.Module):
    """GPT-2 with Hugging Face's parameter names; the output projection is the token embedding."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.n_ctx, config.n_embd)
        self.h = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.ln_f = nn.LayerNorm(config.n_embd)
        self.initialise()

    def initialise(self, scale: float = 0.04) -> None:
        """Wider than GPT-2's 0.02, which left small models without previous-token heads for millions of tokens."""
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                residual = name.endswith("c_proj.weight")
                nn.init.normal_(parameter, std=scale / math.sqrt(2 * self.config.n_layer) if residual else scale)
        self.wpe.weight.data = 3 * scale * sinusoids(self.config.n_ctx, self.config.n_embd)
        self.plant_previous_token_head(self.h[0].attn.c_attn)

    @torch.no_grad()
    def plant_previous_token_head(self, c_attn: Conv1D, strength: float = 1.5) -> None:
        """Lets head 0 start out looking one token to the left, which training may keep, sharpen or give up.

        A key is the position's own waves, a query those of the position before: each wave turned back by one token. Left to
        themselves small models find such a head only after millions of tokens, and induction heads wait for it.
        """
        width, pairs = self.config.n_embd, self.config.n_embd // self.config.n_head // 2
        waves = range(0, 2 * pairs, 2)  # every second of the shorter waves: long ones tell neighbours apart badly
        turns = 2 * math.pi / wave_lengths(self.config.n_ctx, width)
        for pair, wave in enumerate(waves):
            rows, columns = slice(2 * wave, 2 * wave + 2), slice(2 * pair, 2 * pair + 2)
            cos, sin = math.cos(turns[wave]), math.sin(turns[wave])
            c_attn.weight[rows, columns] = strength * torch.tensor([[cos, sin], [-sin, cos]])
            c_attn.weight[rows, width:][:, columns] = strength * torch.eye(2)

    def forward(self, ids: torch.Tensor, patterns: Optional[List[torch.Tensor]] = None) -> torch.Tensor:
        """Logits [rows, positions, vocabulary]; each layer's attention is appended to `patterns` when given."""
        positions = ids.shape[1]
        mask = torch.full((positions, positions), -math.inf, device=ids.device).triu(1)
        x = self.wte(ids) + self.wpe.weight[:positions]
        for block in self.h:
            x = block(x, mask, patterns)
        return F.linear(self.ln_f(x), self.wte.weight)


def wave_lengths(positions: int, width: int) -> torch.Tensor:
    """From 2.5 tokens to twice the context. (The waves of Vaswani et al. 2017 begin at 6.3 tokens, too long to see one.)"""
    return 2.5 * (2 * positions / 2.5) ** (torch.arange(0, width, 2) / width)


def sinusoids(positions: int, width: int) -> torch.Tensor:
    angles = 2 * math.pi * torch.arange(positions)[:, None] / wave_lengths(positions, width)[None, :]
    return torch.stack([angles.sin(), angles.cos()], dim=2).reshape(positions, width)


# -------------------------------------------------------------------------------------------------------- safetensors

def save_safetensors(path: Path, tensors: Dict[str, np.ndarray]) -> None:
    """Eight bytes of header length, a JSON header padded with spaces to a multiple of eight, then the tensors."""
    header: Dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, array in tensors.items():
        header[name] = {"dtype": "F16", "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            file.write(array.tobytes())


def load_safetensors(path: Path) -> Dict[str, torch.Tensor]:
    data = path.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        array = np.frombuffer(data[start + first:start + last], dtype="<f2").reshape(entry["shape"])
        tensors[name] = torch.from_numpy(array.astype(np.float32))
    return tensors


def save_model(model: GPT2, tokenizer: Tokenizer, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(model.config.to_json())
    tokenizer.save(folder)
    state = {name: tensor.detach().cpu().numpy().astype("<f2") for name, tensor in model.state_dict().items()}
    save_safetensors(folder / "model.safetensors", state)


def load_model(folder: Path) -> Tuple[GPT2, Tokenizer]:
    model = GPT2(Config.load(folder))
    model.load_state_dict(load_safetensors(folder / "model.safetensors"))
    return model.eval(), Tokenizer.load(folder)


# --------------------------------------------------------------------------------------------------------------- data

def repeated_span(stream: np.ndarray, length: int, vocabulary: int, rng: np.random.Generator) -> np.ndarray:
    """A span of text, of shuffled text or of random tokens, repeated to fill a row.

    Only copying from earlier in the row predicts the second half of such a row, which is what an induction head does. Half
    of the spans are short, so that a row repeats them often; the others reach half of the row.
    """
    longest = 48 if rng.random() < 0.5 else length // 2
    span = rng.integers(5, longest + 1)
    start = rng.integers(len(stream) - span)
    tokens = stream[start:start + span].copy()
    kind = rng.random()
    if kind < 0.3:
        rng.shuffle(tokens)
    elif kind < 0.5:
        tokens = rng.integers(0, vocabulary - 1, size=span)
    return np.tile(tokens, length // span + 1)[:length]


def draw_rows(stream: np.ndarray, config: Config, rows: int, rng: np.random.Generator) -> torch.Tensor:
    """Rows of n_ctx + 1 tokens: three quarters running text, a quarter repeated spans. Some begin with END."""
    length = config.n_ctx + 1
    batch = []
    for row in range(rows):
        if row % 4 == 0:
            tokens = repeated_span(stream, length, config.vocab_size, rng)
        else:
            start = rng.integers(len(stream) - length)
            tokens = stream[start:start + length]
        if rng.random() < (0.5 if row % 4 == 0 else 0.1):
            tokens = np.concatenate([[config.vocab_size - 1], tokens[:-1]])
        batch.append(tokens)
    return torch.from_numpy(np.stack(batch))


# ----------------------------------------------------------------------------------------------------------- training

class Muon(torch.optim.Optimizer):
    """Momentum whose update is made orthogonal (Jordan 2024): all directions of a matrix learn equally fast."""

    def __init__(self, parameters: Iterable[nn.Parameter], lr: float, momentum: float = 0.95, decay: float = 0.1) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "decay": decay})

    @torch.no_grad()
    def step(self, closure=None) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                state = self.state[parameter].setdefault("momentum", torch.zeros_like(parameter))
                state.lerp_(parameter.grad, 1 - group["momentum"])
                update = parameter.grad.lerp(state, group["momentum"])
                width = parameter.shape[0]
                # Query, key and value are three matrices side by side: each is made orthogonal by itself.
                parts = update.split(width, dim=1) if parameter.shape[1] == 3 * width else [update]
                update = torch.cat([0.2 * max(part.shape) ** 0.5 * orthogonal(part) for part in parts], dim=1)
                parameter.mul_(1 - group["lr"] * group["decay"]).sub_(update, alpha=group["lr"])


def orthogonal(matrix: torch.Tensor, steps: int = 5) -> torch.Tensor:
    """Near the closest orthogonal matrix, by a Newton-Schulz iteration of fifth order."""
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.t() if tall else matrix
    x = (x / (x.norm() + 1e-7)).bfloat16()
    for _ in range(steps):
        gram = x @ x.t()
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return (x.t() if tall else x).float()


def make_optimizers(model: GPT2, lr: float) -> List[torch.optim.Optimizer]:
    """Muon for the matrices of the blocks, AdamW for embeddings, biases and gains; only matrices decay."""
    blocks = [p for p in model.h.parameters() if p.dim() == 2]
    tables = [model.wte.weight, model.wpe.weight]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    adam = [{"params": tables, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    return [Muon(blocks, lr), torch.optim.AdamW(adam, lr=lr, betas=(0.9, 0.98))]


def learning_rate(peak: float, step: int, done: float) -> float:
    """100 steps of warm-up, then a cosine to 2 % over the part of the time that is `done`, however fast the machine."""
    warm = min(1.0, (step + 1) / 100)
    return peak * warm * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(done, 1.0))))


def train_step(model: GPT2, optimizers: List[torch.optim.Optimizer], rows: torch.Tensor, bf16: bool) -> float:
    with torch.autocast(rows.device.type, dtype=torch.bfloat16, enabled=bf16):
        logits = model(rows[:, :-1])
    loss = F.cross_entropy(logits.float().reshape(-1, logits.shape[-1]), rows[:, 1:].reshape(-1))
    model.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer in optimizers:
        optimizer.step()
    return loss.item()


def train(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    torch.set_flush_denormal(True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(options.threads)
    text = options.text.read_text(encoding="utf-8")
    tokenizer = Tokenizer.train(text, options.vocabulary)
    stream = tokenizer.encode(text)
    print(f"{len(text.encode())} bytes, {len(stream)} tokens", flush=True)

    config = Config(options.layers, options.heads, options.width, options.context, options.vocabulary)
    model = GPT2(config).to(device)
    optimizers = make_optimizers(model, options.lr)
    print(f"{sum(p.numel() for p in model.parameters())} parameters on {device}", flush=True)
    checkpoint = options.out / "checkpoint.pt"
    options.out.mkdir(parents=True, exist_ok=True)
    step, spent = 0, 0.0
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=device)
        step, spent = state["step"], state["spent"]
        model.load_state_dict(state["model"])
        for optimizer, saved in zip(optimizers, state["optimizers"]):
            optimizer.load_state_dict(saved)
        print(f"resumed at step {step}, {spent / 60:.1f} minutes", flush=True)

    rng = np.random.default_rng([options.seed, step])
    budget, started, saved_at, losses = 60 * options.minutes, time.time() - spent, time.time(), []
    while spent < budget:
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(options.lr, step, spent / budget)
        rows = draw_rows(stream, config, options.rows, rng).to(device)
        losses.append(train_step(model, optimizers, rows, options.bf16))
        step += 1
        spent = time.time() - started
        if step % 50 == 0:
            print(f"{spent / 60:6.1f} min, step {step}, {step * rows.shape[0] * config.n_ctx / 1e6:.2f} M tokens, "
                  f"loss {np.mean(losses):.4f}", flush=True)
            losses.clear()
        if time.time() - saved_at > 60 * options.save_every:
            saved_at = time.time()
            torch.save({"step": step, "spent": spent, "model": model.state_dict(),
                        "optimizers": [optimizer.state_dict() for optimizer in optimizers]}, checkpoint)
            save_model(model, tokenizer, options.out)
            print("       ", describe(head_scores(model, tokenizer.end)), flush=True)

    save_model(model, tokenizer, options.out)
    checkpoint.unlink(missing_ok=True)
    figures = {"tokens_seen": step * options.rows * config.n_ctx, "steps": step, **measure(options.out, options.heldout)}
    (options.out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")


# --------------------------------------------------------------------------------------------------------- evaluation

@torch.no_grad()
def text_loss(model: GPT2, tokenizer: Tokenizer, text: str) -> Dict[str, float]:
    """Consecutive windows of n_ctx tokens; every token but a window's first is predicted, from that window alone."""
    ids = tokenizer.encode(text)
    lengths = tokenizer.byte_lengths()
    nats, count, size = 0.0, 0, 0
    for start in range(0, len(ids) - 1, model.config.n_ctx):
        window = ids[start:start + model.config.n_ctx]
        if len(window) < 2:
            break
        row = torch.from_numpy(window)[None].to(model.wte.weight.device)
        nats += F.cross_entropy(model(row)[0, :-1], row[0, 1:], reduction="sum").item()
        count += len(window) - 1
        size += int(lengths[window[1:]].sum())
    return {"tokens": count, "bytes": size, "nats_per_token": nats / count, "bits_per_byte": nats / math.log(2) / size}


def head_sequence(seed: int, n_ctx: int, end: int) -> List[int]:
    """END, then a random half of (n_ctx - 2) / 2 tokens, repeated once."""
    half = np.random.RandomState(seed).randint(0, end, size=(n_ctx - 2) // 2).tolist()
    return [end, *half, *half]


@torch.no_grad()
def head_scores(model: GPT2, end: int) -> Dict[str, np.ndarray]:
    """Mean attention weights [layer, head] over eight sequences of random tokens.

    previous_token: of every query on the token before it. induction: of the queries of the second half on the token after
    the earlier occurrence of the query's token.
    """
    sequences = [head_sequence(seed, model.config.n_ctx, end) for seed in HEAD_SEEDS]
    patterns: List[torch.Tensor] = []
    model(torch.tensor(sequences, device=model.wte.weight.device), patterns)
    last = len(sequences[0]) - 1
    half = last // 2
    every, second = torch.arange(1, last + 1), torch.arange(1 + half, last + 1)

    def mean(query: torch.Tensor, key: torch.Tensor) -> np.ndarray:
        return np.stack([pattern[:, :, query, key].mean(dim=(0, 2)).cpu().numpy() for pattern in patterns])

    return {"previous_token": mean(every, every - 1), "induction": mean(second, second - half + 1)}


def describe(scores: Dict[str, np.ndarray], top: int = 3) -> str:
    parts = []
    for name, table in scores.items():
        best = np.argsort(-table, axis=None)[:top]
        parts.append(name + " " + ", ".join(
            f"L{layer} H{head} {table[layer, head]:.3f}" for layer, head in zip(*np.unravel_index(best, table.shape))))
    return "; ".join(parts)


def measure(folder: Path, heldout: Optional[Path]) -> Dict[str, object]:
    """Measures what lies in the folder, which is rounded to F16, and not the model in memory; prints the best of it."""
    model, tokenizer = load_model(folder)
    scores = head_scores(model, tokenizer.end)
    figures: Dict[str, object] = {"parameters": sum(p.numel() for p in model.parameters())}
    if heldout:
        figures["heldout"] = text_loss(model, tokenizer, heldout.read_text(encoding="utf-8"))
        print(json.dumps(figures["heldout"]))
    print(describe(scores))
    return {**figures, **{name: np.round(table.astype(float), 4).tolist() for name, table in scores.items()}}


# ------------------------------------------------------------------------------------------------------- command line

def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    learn = commands.add_parser("train", help="tokenizer and model from one text file")
    learn.add_argument("--text", type=Path, required=True)
    learn.add_argument("--heldout", type=Path, help="text that is never trained on, for the figures")
    learn.add_argument("--out", type=Path, required=True, help="folder to write; training resumes from its checkpoint.pt")
    learn.add_argument("--minutes", type=float, default=120)
    learn.add_argument("--save-every", type=float, default=5, metavar="MINUTES")
    learn.add_argument("--layers", type=int, default=6)
    learn.add_argument("--heads", type=int, default=6)
    learn.add_argument("--width", type=int, default=192)
    learn.add_argument("--context", type=int, default=256)
    learn.add_argument("--vocabulary", type=int, default=1024)
    learn.add_argument("--rows", type=int, default=8, help="rows of a batch")
    learn.add_argument("--lr", type=float, default=2e-3)
    learn.add_argument("--bf16", action="store_true", help="products in bfloat16: faster on processors that have it")
    learn.add_argument("--threads", type=int, default=os.cpu_count())
    learn.add_argument("--seed", type=int, default=1)
    again = commands.add_parser("evaluate", help="measure a folder again")
    again.add_argument("--model", type=Path, required=True)
    again.add_argument("--heldout", type=Path)
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    if options.command == "train":
        train(options)
    else:
        measure(options.model, options.heldout)


if __name__ == "__main__":
    main()
