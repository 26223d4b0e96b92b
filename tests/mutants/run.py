#!/usr/bin/env python3
"""Breaks the program one small slip at a time, and says which slips no test notices.

    tests/mutants/run.py                      all of them; one that survives wants a test
    tests/mutants/run.py memo app/hub/        those that have a word in their name, or in the name of their file
    tests/mutants/run.py --list
    tests/mutants/run.py --check              only whether each still fits the sources; ctest does that

The lists, *.mutants beside this file, have a stanza for each, with empty lines between:

    name: what is wrong then, in words
    file: model/pass/attention.cpp
    - text that stands in the file exactly once
    + what takes its place; several lines of a kind are one text, nothing behind + takes it out
    test: model_forward_tests Forward.*:Attention.*

`test` names a program and those of its tests that have to notice, as --gtest_filter takes them, or tests/e2e/NAME_test.py as
e2e.NAME and parts of its tests' names; there may be several. All happens in a copy of the sources, in build/mutants.
"""
import argparse
import filecmp
import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable  # Debian's has numpy


class Fault(Exception):
    """One sentence."""


@dataclass
class Mutant:
    where: str
    name: str = ""
    file: str = ""
    old: list = field(default_factory=list)
    new: list = field(default_factory=list)
    tests: list = field(default_factory=list)  # (program, filter)

    def applied(self, text):
        """`text` with the slip in it. Line breaks and indents of the list need not be those of the file."""
        words = "\n".join(self.old).split()
        found = list(re.finditer(r"\s+".join(map(re.escape, words)), text)) if words else []
        if len(found) != 1:
            raise Fault(f"{self.where}: expected its text exactly once in {self.file}, found it {len(found)} times")
        return text[:found[0].start()] + "\n".join(self.new) + text[found[0].end():]


def parse(text, where):
    mutants, last = [], None
    for number, line in enumerate(text.splitlines(), 1):
        key, _, value = line.partition(": ")
        if not line.strip() or line.startswith("#"):
            last = None
            continue
        if last is None:
            mutants.append(last := Mutant(f"{where}:{number}"))
        if key in ("name", "file"):
            setattr(last, key, value)
        elif key == "test":
            program, _, tests = value.partition(" ")
            last.tests.append((program, tests.strip() or "*"))
        elif line[0] in "-+" and line[1:2] in ("", " "):
            (last.old if line[0] == "-" else last.new).append(line[2:])
        else:
            raise Fault(f"{where}:{number}: expected name, file, test, - or +, found {line!r}")
    for mutant in mutants:
        for part in ("name", "file", "old", "new", "tests"):
            if not getattr(mutant, part):
                raise Fault(f"{mutant.where}: expected a mutant with {part}, found none")
    return mutants


def read_lists():
    return [mutant for path in sorted(HERE.glob("*.mutants"))
            for mutant in parse(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())]


# --- whether they still fit ---

def known_tests():
    """Names as --gtest_filter sees them, of all test programs."""
    names = set()
    for path in (ROOT / "tests").glob("**/*.cpp"):
        for kind, suite, test in re.findall(r"^(TEST\w*)\(\s*(\w+),\s*(\w+)\)", path.read_text(encoding="utf-8"), re.M):
            names.add(f"Any/{suite}.{test}/0" if kind.endswith("_P") else f"{suite}.{test}")
    return names


def check(mutants):
    """The sentences of all that do not fit."""
    faults, tests, seen = [], known_tests(), set()
    lists = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").glob("*/CMakeLists.txt"))
    programs = set(re.findall(r"headscope_test\((\w+)", lists))
    of_e2e = {f"e2e.{path.name.removesuffix('_test.py')}": path.read_text(encoding="utf-8")
              for path in (ROOT / "tests" / "e2e").glob("*_test.py")}
    for mutant in mutants:
        try:
            if mutant.name in seen:
                raise Fault(f"{mutant.where}: there is another mutant of the name {mutant.name!r}")
            seen.add(mutant.name)
            path = ROOT / mutant.file
            if not path.is_file():
                raise Fault(f"{mutant.where}: expected a file, found none at {mutant.file}")
            text = path.read_text(encoding="utf-8")
            if mutant.applied(text) == text:
                raise Fault(f"{mutant.where}: it changes nothing")
            for program, wanted in mutant.tests:
                if program not in programs and program not in of_e2e:
                    raise Fault(f"{mutant.where}: there is no test program {program}")
                for pattern in wanted.split(":"):
                    if program in of_e2e:
                        known = re.search(rf"def test_\w*{re.escape(pattern)}", of_e2e[program]) or pattern == "*"
                    else:
                        known = fnmatch.filter(tests, pattern)
                    if not known:
                        raise Fault(f"{mutant.where}: there is no test {pattern}")
        except Fault as fault:
            faults.append(str(fault))
    return faults


# --- the copy ---

class Copy:
    def __init__(self, preset, jobs):
        self.root, self.preset, self.jobs = ROOT / "build" / "mutants", preset, jobs
        self.build_folder = self.root / "build" / preset

    def synchronize(self):
        """What git knows of or would add, as it is now. Files that are the same keep their times, so that little is built."""
        names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                               check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
        names = {name for name in names if name and (ROOT / name).is_file()}
        for name in names:
            source, goal = ROOT / name, self.root / name
            if not goal.is_file() or not filecmp.cmp(source, goal, shallow=False):
                goal.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, goal)
        for goal in list(self.root.glob("**/*")):
            name = goal.relative_to(self.root)
            if goal.is_file() and name.parts[0] != "build" and name.as_posix() not in names:
                goal.unlink()

    def configure(self):
        # Tests are looked up by ctest alone, which nobody asks here: a program that hangs shall not hang its build.
        command = ["cmake", "--preset", self.preset, "-DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST"]
        done = subprocess.run(command, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise Fault(f"the copy cannot be configured: {done.stdout.strip()[-2000:]}")

    def build(self, programs):
        """The compiler's words where it fails, else nothing."""
        targets = sorted({"headscope" if program.startswith("e2e.") else program for program in programs})
        command = ["cmake", "--build", self.build_folder, "--parallel", str(self.jobs), "--target", *targets]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        return done.stdout if done.returncode != 0 else ""

    def run(self, program, tests, seconds=None, to_the_end=False):
        """"passes", "fails" or "hangs", and what was said."""
        if program.startswith("e2e."):
            script = self.root / "tests" / "e2e" / f"{program.removeprefix('e2e.')}_test.py"
            names = [word for part in tests.split(":") if part != "*" for word in ("-k", part)]
            command = [PYTHON, script, *names] + ([] if to_the_end else ["--failfast"])
        else:
            command = [next((self.build_folder / "tests").glob(f"*/{program}")),
                       f"--gtest_filter={tests}", "--gtest_brief=1", f"--gtest_fail_fast={0 if to_the_end else 1}"]
        environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        environment["HEADSCOPE"] = str(self.build_folder / "app" / "headscope")
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        try:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                       cwd=self.build_folder, env=environment, start_new_session=True)
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # what it started, too
            process.communicate()
            return "hangs", ""
        return ("passes" if process.returncode == 0 else "fails"), output


def failed_tests(output):
    found = re.findall(r"^(?:\[  FAILED  \]|FAIL:|ERROR:) ([^\s,]+)", output, re.M)
    return found or ["it crashed"]


def is_among(name, tests):
    return any(fnmatch.fnmatchcase(name, part) or ("." not in name and part in name) for part in tests.split(":"))


class Trial:
    """Knows how long the tests of a program take when nothing is wrong, and which do not even pass then."""

    def __init__(self, copy, mutants):
        self.copy, self.seconds, self.failed = copy, {}, {}
        wanted = {}
        for program, tests in [test for mutant in mutants for test in mutant.tests]:
            wanted.setdefault(program, set()).update(tests.split(":"))
        if words := copy.build(wanted):
            raise Fault(f"the sources do not build as they are: {words.strip()[-2000:]}")
        for program, tests in sorted(wanted.items()):
            begun = time.monotonic()
            how, output = copy.run(program, "*" if "*" in tests else ":".join(sorted(tests)), to_the_end=True)
            self.seconds[program] = time.monotonic() - begun
            self.failed[program] = [] if how == "passes" else failed_tests(output)
            print(f"{program} {how} as the sources are, {self.seconds[program]:.0f} s", *self.failed[program][:3], flush=True)

    def of(self, mutant):
        """"killed", "survived", "did not build" or "not judged", and by what."""
        for program, tests in mutant.tests:
            for name in self.failed[program]:
                if name == "it crashed" or is_among(name, tests):
                    return "not judged", f"{program} fails as the sources are: {name}"
        path = self.copy.root / mutant.file
        original = path.read_text(encoding="utf-8")
        path.write_text(mutant.applied(original), encoding="utf-8")
        try:
            if words := self.copy.build({program for program, _ in mutant.tests}):
                return "did not build", next((line for line in words.splitlines() if "error: " in line), "")
            for program, tests in mutant.tests:
                how, output = self.copy.run(program, tests, seconds=60 + 3 * self.seconds[program])
                if how == "hangs":
                    return "killed", f"{program} timed out"
                if how == "fails":
                    return "killed", failed_tests(output)[0]
            return "survived", ", ".join(" ".join(test) for test in mutant.tests)
        finally:
            path.write_text(original, encoding="utf-8")


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wanted", nargs="*", metavar="WORD", help="part of a mutant's name or of its file's; default: all")
    parser.add_argument("--list", action="store_true", help="say which there are")
    parser.add_argument("--check", action="store_true", help="only see whether each fits the sources")
    parser.add_argument("--preset", default="ci", help="of CMakePresets.json (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="of the builds (default: %(default)s)")
    return parser.parse_args(words)


def try_all(mutants, given):
    copy = Copy(given.preset, given.jobs)
    copy.synchronize()
    copy.configure()
    trial, count = Trial(copy, mutants), {"killed": 0, "survived": 0, "did not build": 0, "not judged": 0}
    for mutant in mutants:
        begun = time.monotonic()
        how, by = trial.of(mutant)
        count[how] += 1
        print(f"{how:13} {time.monotonic() - begun:5.0f} s  {mutant.file}: {mutant.name}  ({by})", flush=True)
    print(f"{len(mutants)} mutants: " + ", ".join(f"{n} {how}" for how, n in count.items()))
    return 0 if count["killed"] == len(mutants) else 1


def main(words):
    given = arguments(words)
    try:
        mutants = read_lists()
        if faults := check(mutants):
            raise Fault("\n".join(faults))
        mutants = [m for m in mutants if not given.wanted or any(w in m.name or w in m.file for w in given.wanted)]
        if not mutants:
            raise Fault("no mutant has such a name; --list says which there are")
        if given.list:
            print("\n".join(f"{m.file}: {m.name}" for m in mutants))
        elif given.check:
            print(f"{len(mutants)} mutants fit the sources")
        else:
            return try_all(mutants, given)
    except Fault as fault:
        print(f"run.py: {fault}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
