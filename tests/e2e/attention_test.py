"""Attention of any model: the Python of assets/guide/attention-files.md as it stands there, and what the program makes of their files.

They are run on torch's own tensors. Where safetensors is not installed its save_file is written here; models and
tokenizers are stand-ins, whose patterns are drawn at random. Without torch nothing is tested."""
import json
import re
import struct
import sys
import types
import unittest
import unittest.mock

import numpy as np

from program import ROOT, ProgramCase, main

try:
    import torch
except ImportError:
    torch = None

WORDS = "[CLS] the cat sat on the mat . [SEP]".split()


def save_file(tensors, path, metadata=None):
    header, data = {"__metadata__": metadata or {}}, b""
    types_of = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64"}
    for name, tensor in tensors.items():
        assert tensor.is_contiguous()
        view = tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor
        begin, data = len(data), data + view.numpy().tobytes()
        header[name] = {"dtype": types_of[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


class Tokenizer:
    from_pretrained = classmethod(lambda cls, name: cls())

    def __call__(self, text, return_tensors):
        return {"input_ids": torch.arange(len(WORDS))[None]}

    def convert_ids_to_tokens(self, ids):
        return [WORDS[i] for i in ids]


class Model:
    """Attention with 3 layers and 4 heads, bidirectional like BERT's."""

    @classmethod
    def from_pretrained(cls, name, attn_implementation):
        assert attn_implementation == "eager"
        return cls()

    def __call__(self, input_ids, output_attentions):
        torch.manual_seed(1)
        n = input_ids.shape[1]
        self.made = tuple(torch.rand(1, 4, n, n).softmax(-1) for _ in range(3))
        return types.SimpleNamespace(attentions=self.made)

    def run_with_cache(self, text):
        patterns = self(torch.arange(len(WORDS))[None], True).attentions
        cache = {f"blocks.{layer}.attn.hook_pattern": pattern for layer, pattern in enumerate(patterns)}
        return None, {**cache, "blocks.0.hook_resid_pre": torch.zeros(1, 2, 3)}

    def to_str_tokens(self, text):
        return WORDS


def lines_of_guide(starts):
    """The block of Python in the guide that begins with this line."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "assets/guide/attention-files.md").read_text(), re.DOTALL)
    found = [block for block in blocks if block.startswith(starts)]
    assert len(found) == 1, f"{len(found)} blocks begin with {starts!r}"
    return found[0]


@unittest.skipIf(torch is None, "torch is not installed")
class Attention(ProgramCase):
    def setUp(self):
        super().setUp()
        transformers = types.ModuleType("transformers")
        transformers.AutoModel, transformers.AutoTokenizer = Model, Tokenizer
        modules = {"transformers": transformers}
        try:
            import safetensors.torch  # noqa: F401
        except ImportError:
            modules["safetensors"], modules["safetensors.torch"] = types.ModuleType("safetensors"), types.ModuleType("safetensors.torch")
            modules["safetensors.torch"].save_file = save_file
        patch = unittest.mock.patch.dict(sys.modules, modules)
        patch.start()
        self.addCleanup(patch.stop)

    def run_lines(self, text, names):
        """Runs with files in the test's folder."""
        exec(text.replace('"bert.safetensors"', repr(str(self.folder / "bert.safetensors")))
             .replace('"lens.safetensors"', repr(str(self.folder / "lens.safetensors"))), names)
        return names

    def rows(self, file, *arguments):
        out = self.folder / "out.csv"
        self.succeed("plot", "heatmap", "--attention", file, *arguments, "--out", out)
        header, *rows = [line.split(",") for line in out.read_text().splitlines()]
        return header, [row[1] for row in rows], np.array([[float(cell) for cell in row[2:]] for row in rows], np.float32)

    def test_a_hugging_face_model(self):
        names = self.run_lines(lines_of_guide("import json, torch"), {})
        for layer in range(3):
            header, tokens, weights = self.rows(self.folder / "bert.safetensors", "--layer", str(layer), "--head", "2")
            self.assertEqual(tokens, WORDS)
            self.assertEqual(header[2:], [f"{i} {word}" for i, word in enumerate(WORDS)])
            self.assertTrue(np.array_equal(weights, names["model"].made[layer][0, 2].numpy()))
        picture = self.folder / "bert.svg"
        self.succeed("plot", "heatmap", "--svg-text", "--attention", self.folder / "bert.safetensors", "--out", picture)
        self.assertIn("no mask (inferred)", picture.read_text())
        self.assertIn("bert-base-uncased · “The cat sat on the mat.”", picture.read_text())

    def test_a_cache_of_transformer_lens(self):
        names = {"json": json, "save_file": sys.modules["safetensors.torch"].save_file, "model": Model(), "text": "the cat"}
        self.run_lines(lines_of_guide("logits, cache"), names)
        _, tokens, weights = self.rows(self.folder / "lens.safetensors", "--layer", "1", "--head", "3")
        self.assertEqual(tokens, WORDS)
        self.assertTrue(np.array_equal(weights, names["model"].made[1][0, 3].numpy()))

    def test_cross_attention_in_half_precision(self):
        torch.manual_seed(2)
        cross = [torch.rand(1, 2, 5, 12).softmax(-1).to(dtype) for dtype in (torch.float16, torch.bfloat16)]
        file = self.folder / "cross.safetensors"
        save_file({f"blocks.{i}.attn.hook_pattern": pattern for i, pattern in enumerate(cross)}, file,
                  {"tokens": json.dumps(list("abcde")), "key_tokens": json.dumps([f"k{i}" for i in range(12)])})
        for layer, pattern in enumerate(cross):
            header, tokens, weights = self.rows(file, "--layer", str(layer))
            self.assertEqual(tokens, list("abcde"))
            self.assertEqual(header[-1], "11 k11")
            self.assertTrue(np.array_equal(weights, pattern[0, 0].float().numpy()))


if __name__ == "__main__":
    main()
