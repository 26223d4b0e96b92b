#!/usr/bin/python3
"""Writes tales_expected.json: what assets/models/train.py (PyTorch) measures on the bundled model, for tests/model/models_test.cpp.

    make_tales_expected.py            (needs what train.py needs; takes some seconds)
"""
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent.parent / "assets" / "models"
sys.path.insert(0, str(MODELS))
import train

COMMENT = [
    "What assets/models/train.py (PyTorch, float32 on the F16 weights) measures on the bundled model assets/models/tales; written by "
    "make_tales_expected.py.",
    "excerpt: the file beside this one, read as bytes, its last newline included. ids: its tokens. The ids are cut into consecutive "
    "windows of n_ctx tokens, the last one shorter; in each window every token but the first is predicted from that window alone (no "
    "start token). tokens and bytes count the predicted tokens only; nats_per_token is the mean of their losses; bits_per_byte is the "
    "sum of the losses / ln 2 / bytes.",
    "Float32 sums in another order differ in about the sixth digit: compare losses with a tolerance of 1e-3.",
]


def main():
    model, tokenizer = train.load_model(MODELS / "tales")
    text = (HERE / "tales_excerpt.txt").read_bytes().decode()
    loss = train.text_loss(model, tokenizer, text)
    expected = {
        "comment": COMMENT,
        "excerpt": {"file": "tales_excerpt.txt", "n_ctx": model.config.n_ctx, "ids": tokenizer.encode(text).tolist(),
                    **{name: round(value, 6) for name, value in loss.items()}},
    }
    text = json.dumps(expected, indent=1)
    text = re.sub(r"\[[\d,\s]+\]", lambda numbers: json.dumps(json.loads(numbers[0])), text)  # a list of numbers is one line
    (HERE / "tales_expected.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
