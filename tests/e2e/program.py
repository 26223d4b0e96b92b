"""Runs the real program; shared by its tests."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path


ROOT = Path(__file__).resolve().parents[2]
HEADSCOPE = os.environ.get("HEADSCOPE", str(ROOT / "build" / "app" / "headscope"))
TALES = ROOT / "assets" / "models" / "tales"
CONFIG = json.loads((TALES / "config.json").read_text())
sys.path.insert(0, str(ROOT / "tests" / "model" / "reference"))

# The program for Windows, run by Wine: HEADSCOPE is a script that becomes the process of Wine.
ON_WINDOWS = os.environ.get("HEADSCOPE_SYSTEM") == "windows"

PROMPT = "Once upon a time there was a little girl, and the little girl"


def only_on_linux(reason):
    """For tests of what Windows has not, or has in another way."""
    return unittest.skipIf(ON_WINDOWS, "only on Linux: " + reason)


def spelled(path):
    """A path as the program's system spells it; Wine's drive Z is the root."""
    return "Z:" + str(path).replace("/", "\\") if ON_WINDOWS and str(path).startswith("/") else str(path)


def passed(argument):
    """An argument as the program takes it."""
    return spelled(argument) if isinstance(argument, Path) else os.fspath(argument)


def run(*arguments, stdin=b"", env=None, **more):
    """The finished process; standard output and error as bytes."""
    environment = {**os.environ, **(env or {})}
    if "stdout" not in more:
        more["stdout"] = subprocess.PIPE
    begin = lambda: subprocess.run([HEADSCOPE, *map(passed, arguments)], input=stdin, stderr=subprocess.PIPE, env=environment,
                                   timeout=120, **more)
    done = begin()
    if ON_WINDOWS and done.returncode == 1 and not done.stdout and not done.stderr:
        # So ends one of some thousand starts of Wine on a busy machine. The program itself never fails without a sentence, and what
        # always ends so still fails here.
        print("Wine ended without a word; once more:", *arguments, file=sys.stderr)
        done = begin()
    if ON_WINDOWS:
        done.stderr = done.stderr.replace(b"\r\n", b"\n")
    return done


def until(condition, seconds=60):
    """Whether something that another process does has come about in time."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)
    return condition()


class ProgramCase(unittest.TestCase):
    """A test with its own folder."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="headscope-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def succeed(self, *arguments, notes=False, **more):
        """Standard output of a run that succeeds without messages on standard error (unless `notes`)."""
        done = run(*arguments, **more)
        self.assertEqual((done.returncode, b"" if notes else done.stderr), (0, b""), (arguments, done.stderr))
        return done.stdout

    def json(self, *arguments, **more):
        out = self.succeed(*arguments, "--json", **more)
        self.assertTrue(out.endswith(b"\n") and out.count(b"\n") == 1, out[:200])
        return json.loads(out.decode("utf-8", "strict"))

    def sentence(self, stderr, about=None):
        """The one-line error message."""
        message = stderr.decode("utf-8", "replace") if isinstance(stderr, bytes) else stderr
        self.assertRegex(message, r"\Aheadscope: [^\x00-\x1f]{10,800}\n\Z", about)
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
    """Runs the file's tests. The exit status is 77 if all were skipped; the output says why."""
    result = unittest.main(verbosity=2, exit=False).result
    none_ran = 0 < len(result.skipped) >= result.testsRun
    sys.exit(1 if not result.wasSuccessful() else 77 if none_ran else 0)
