#!/usr/bin/env python3
"""Checks the program at GPT-2 small's own shape: writes a random-weight model of it into a folder, and starts the tests of it.

    small_shape_check.py FOLDER PROGRAM...      77 (skipped) where numpy is not installed
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

try:
    from make_random_gpt2 import make
except ImportError:
    print("skipped: numpy is not installed (Debian: apt install python3-numpy)")
    sys.exit(77)

folder, *programs = sys.argv[1:]
try:
    make(Path(folder))
    for program in programs:
        subprocess.run([program, "--gtest_filter=SmallShape.*:MemoryOfGpt2Small.*"], check=True,
                       env={**os.environ, "HEADSCOPE_SMALL_SHAPE": folder})
finally:
    shutil.rmtree(folder, ignore_errors=True)
