"""Runs the real program, and what the tests of it have in common."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADSCOPE = os.environ.get("HEADSCOPE", str(ROOT / "build" / "app" / "headscope"))
TALES = ROOT / "assets" / "models" / "tales"
CONFIG = json.loads((TALES / "config.json").read_text())
sys.path.insert(0, str(ROOT / "tests" / "model" / "reference"))

END_OF_TEXT = "<|endoftext|>"
PROMPT = "Once upon a time there was a little girl, and the little girl"


def run(*arguments, stdin=b"", env=None, **more):
    """The finished process; standard output and error as bytes."""
    environment = {**os.environ, **(env or {})}
    if "stdout" not in more:
        more["stdout"] = subprocess.PIPE
    return subprocess.run([HEADSCOPE, *map(os.fspath, arguments)], input=stdin, stderr=subprocess.PIPE, env=environment,
                          timeout=120, **more)


class ProgramCase(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="headscope-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def succeed(self, *arguments, notes=False, **more):
        """Standard output of a run that goes well and says nothing on standard error (unless `notes`)."""
        done = run(*arguments, **more)
        self.assertEqual((done.returncode, b"" if notes else done.stderr), (0, b""), (arguments, done.stderr))
        return done.stdout

    def json(self, *arguments, **more):
        out = self.succeed(*arguments, "--json", **more)
        self.assertTrue(out.endswith(b"\n") and out.count(b"\n") == 1, out[:200])
        return json.loads(out.decode("utf-8", "strict"))

    def sentence(self, stderr):
        """The one line that an error is."""
        message = stderr.decode("utf-8", "replace")
        self.assertRegex(message, r"\Aheadscope: [^\x00-\x1f]{10,800}\n\Z")
        return message

    def fail_with(self, status, *arguments, contains=(), **more):
        done = run(*arguments, **more)
        self.assertEqual(done.returncode, status, (arguments, done.stderr))
        self.assertEqual(done.stdout, b"", arguments)
        message = self.sentence(done.stderr)
        for part in [contains] if isinstance(contains, str) else contains:
            self.assertIn(part, message)
        return message


def png_size(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR" and data[-8:-4] == b"IEND", data[:32]
    return struct.unpack(">II", data[16:24])


def random_model(folder, tokenizer=TALES, **shape):
    """A random GPT-2 with the bundled model's tokenizer."""
    import make_random_gpt2
    vocabulary = len(json.loads((tokenizer / "vocab.json").read_text()))
    make_random_gpt2.make(folder, vocab=vocabulary, **shape)
    for name in ("vocab.json", "merges.txt"):
        shutil.copy(tokenizer / name, folder / name)
    return folder


def main():
    unittest.main(verbosity=2)
