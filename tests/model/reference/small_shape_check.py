#!/usr/bin/env python3
"""Checks the program at GPT-2 small's own shape: writes a random-weight model of it into a folder, runs the float64
reference, and starts the test programs. Removes the folder after.

    small_shape_check.py --work DIR --test PROGRAM [--test PROGRAM]

Exit status: that of the first program that fails; 77 (skipped) where numpy is not installed.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed (Debian: apt install python3-numpy)")
    sys.exit(77)

import gpt2_reference
import safetensors_io
from make_random_gpt2 import make

LENGTH = 16
LAYERS_COMPARED = (0, 5, 11)


def is_compared(name):
    return name == "logits" or name in {f"blocks.{layer}.attn.hook_pattern" for layer in LAYERS_COMPARED}


def write(path, tokens, activations):
    records = [("tokens", "I64", (len(tokens),), lambda: np.array(tokens))]
    records += [(name, "F32", value.shape, lambda value=value: value) for name, value in activations.items()]
    safetensors_io.write(path, records)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True, action="append")
    arguments = parser.parse_args()
    try:
        make(arguments.work)
        tokens = [int(token) for token in np.random.default_rng(5).integers(0, 50257, LENGTH)]
        config = json.loads((arguments.work / "config.json").read_text())
        weights = {name: values.astype(np.float64)
                   for name, values in safetensors_io.read(arguments.work / "model.safetensors").items()}
        activations = gpt2_reference.run(config, weights, tokens)
        write(arguments.work / "goldens.safetensors", tokens,
              {name: values for name, values in activations.items() if is_compared(name)})
        del weights, activations
        environment = {**os.environ, "HEADSCOPE_SMALL_SHAPE": str(arguments.work)}
        for test in arguments.test:
            status = subprocess.run([test], env=environment, check=False).returncode
            if status != 0:
                return status
        return 0
    finally:
        shutil.rmtree(arguments.work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
