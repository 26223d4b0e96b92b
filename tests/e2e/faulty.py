"""Runs the program with failing system calls: see faulty_calls.cpp."""
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from program import HEADSCOPE

SHIM = os.environ.get("FAULTY_CALLS", "")


class Fault(NamedTuple):
    call: str
    at: int
    how: object  # a number of errno, or a word
    again: int = 0

    def environment(self):
        return {"FAULTY_CALL": self.call, "FAULTY_AT": str(self.at), "FAULTY_HOW": str(self.how),
                "FAULTY_AGAIN": str(self.again)}


class Ran(NamedTuple):
    status: int
    err: str
    out: bytes
    files: dict  # under "out": name -> bytes, or where a link leads
    calls: list  # (kind, path) of those that count, in their order


def contents(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


class Place:
    """A folder to run in, with the inputs in `in` and the outputs in `out`."""

    def __init__(self, folder, inputs=None, outputs=None):
        self.folder = folder
        for name, source in (("in", inputs), ("out", outputs)):
            if source:
                shutil.copytree(source, folder / name, symlinks=True)
            else:
                (folder / name).mkdir(parents=True)

    def placed(self, word):
        """Replaces IN and OUT by the folders."""
        return re.sub(r"\b(IN|OUT)\b", lambda m: str(self.folder / m[0].lower()), str(word))

    def environment(self, fault=None, log=False, env=None):
        return {**os.environ, **{name: self.placed(value) for name, value in (env or {}).items()},
                "LD_PRELOAD": SHIM, "FAULTY_PATH": str(self.folder), **(fault.environment() if fault else {}),
                **({"FAULTY_LOG": str(self.folder / "log")} if log else {})}

    def calls(self):
        """The recorded calls on files."""
        all_of_them = [tuple(line.split(" ", 1)) for line in (self.folder / "log").read_text().splitlines()]
        return [call for call in all_of_them if call[0] != "thread"]

    def run(self, words, fault=None, log=False, env=None):
        """Runs with files as standard input and output. Removes the folder from messages."""
        environment = self.environment(fault, log, env)
        standard = self.folder / "in/standard"
        with open(standard if standard.exists() else os.devnull, "rb") as given, open(self.folder / "said", "wb") as said:
            done = subprocess.run([HEADSCOPE, *map(self.placed, words)], stdin=given, stdout=said, stderr=subprocess.PIPE,
                                  env=environment, timeout=120)
        return Ran(done.returncode, done.stderr.decode("utf-8", "replace"),
                   (self.folder / "said").read_bytes().replace(bytes(self.folder), b""), contents(self.folder / "out"),
                   self.calls() if log else [])


def side_by_side(work, items):
    """Runs `work` for each item, one per processor at a time; reports all failures."""
    failed = []
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for done in [pool.submit(work, item) for item in items]:
            try:
                done.result()
            except AssertionError as error:
                failed.append(str(error)[-700:])
    if failed:
        raise AssertionError(f"{len(failed)} of {len(items)}:\n\n" + "\n\n".join(failed))
