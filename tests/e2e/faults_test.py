"""Every call of the system fails once: the result is the same, or one sentence says what failed and nothing is half written.

HEADSCOPE_FAULTS=all tries each call with each fault; else each command has one of each kind, and each file that any reads or writes."""
import collections
import errno
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess

from hub import NAME, HubCase
from program import HEADSCOPE, PROMPT, ProgramCase, main, random_model, until  # first: it finds the reference
from faulty import Fault, Place, contents, side_by_side
import safetensors_io

ALL = os.environ.get("HEADSCOPE_FAULTS") == "all"
FULL, BROKEN, FORBIDDEN = errno.ENOSPC, errno.EIO, errno.EACCES

# The faults of each kind of call. The first must have no effect; the others may be reported in a sentence.
FAULTS = {
    "open": ([errno.EINTR], [FORBIDDEN, BROKEN, errno.EMFILE]),
    "create": ([errno.EINTR], [FORBIDDEN, FULL, BROKEN]),
    "read": ([errno.EINTR, "short"], [BROKEN]),
    "write": ([errno.EINTR, "short"], [FULL, BROKEN, "zero"]),
    "close": ([errno.EINTR], [BROKEN, FULL]),
    "sync": ([errno.EINTR], [BROKEN]),
    "resize": ([errno.EINTR], [BROKEN]),
    "allocate": ([errno.EINTR, errno.EOPNOTSUPP], [FULL]),
    "rename": ([], [FORBIDDEN, BROKEN]),
    "link": ([], [FORBIDDEN, FULL]),
    "folder": ([], [FORBIDDEN, FULL]),
    "remove": ([], [BROKEN]),
    "stat": ([], [FORBIDDEN, BROKEN]),
    "list": ([], [BROKEN]),
    "map": ([], [errno.ENOMEM]),
}

PLACED = ["--model", "IN/model", "--prompt-file", "IN/prompt.txt", "--threads", "1"]
LISTED = ["--model", "IN/model", "--prompts", "IN/prompts.jsonl", "--threads", "1"]
COMMANDS = {
    "info": ["info", "--model", "IN/sharded", "--json"],
    "predict": ["predict", *PLACED, "--json"],
    "shards": ["predict", "--model", "IN/sharded", "--prompts", "IN/prompts.jsonl", "--edits", "IN/edits.txt", "--json"],
    "standard input": ["predict", "--model", "IN/model", "--prompt-file", "-"],
    "trace": ["trace", *PLACED, "--hooks", "*pattern,*resid_pre", "--out", "OUT/run.safetensors"],
    "png": ["heatmap", *PLACED, "--out", "OUT/a.png"],
    "in the place of another": ["next", *PLACED, "--out", "OUT/old.csv"],
    "list": ["next", *LISTED, "--out", "OUT/{n}.svg"],
    "recipe": ["heatmap", "--recipe", "IN/figure.png", "--model", "IN/model", "--out", "OUT/a.svg"],
    "mean": ["metrics", *LISTED, "--mean", "--out", "OUT/part.json"],
    "merge": ["metrics", "--merge", "IN/part-0.json", "IN/part-1.json"],
    "patterns": ["heads", "--attention", "IN/patterns.safetensors", "--out", "OUT/a.svg"],
    "window": ["shot", *PLACED, "--size", "800x560", "--out", "OUT/w.png"],
    "tour": ["shot", "--model", "IN/model", "--tour", "IN/tour.md", "--size", "800x560", "--out", "OUT/w.png"],
}


def sharded(model, folder):
    """The same weights in two files and their index."""
    shutil.copytree(model, folder)
    tensors = [(name, "F32", values.shape, lambda values=values: values)
               for name, values in safetensors_io.read(folder / "model.safetensors").items()]
    (folder / "model.safetensors").unlink()
    parts = {"model-1.safetensors": tensors[::2], "model-2.safetensors": tensors[1::2]}
    for name, part in parts.items():
        safetensors_io.write(folder / name, part)
    index = {"weight_map": {tensor[0]: name for name, part in parts.items() for tensor in part}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


class FaultCase(ProgramCase):
    """Commands whose calls fail. `self.inputs` is what they read, `self.outputs` what exists before they run."""
    files = set()  # whose calls failed already, of any command

    def setUp(self):
        super().setUp()
        self.random = random.Random(5)
        self.inputs, self.outputs = self.folder / "inputs", self.folder / "outputs"
        self.inputs.mkdir()
        self.outputs.mkdir()
        self.numbers = itertools.count()

    def place(self):
        return Place(self.folder / f"{next(self.numbers)}", self.inputs, self.outputs)

    def chosen(self, calls):
        """The faults to try, and whether they must have no effect."""
        seen, every = collections.Counter(), []
        for kind, path in calls:
            seen[kind] += 1
            name = re.sub(r".*?/(in|out)/|#\d+|\d+-\d+\.part|[0-9a-f]{40,}", "#", path)
            for hows, silent in zip(FAULTS[kind], (True, False)):
                every += [((kind, silent), (kind, name), Fault(kind, seen[kind], how), silent) for how in hows]
        for kind in {"read", "write"} & set(seen):  # again and again
            every += [((kind, how), (kind, how), Fault(kind, 1, how, again), True)
                      for how, again in ((errno.EINTR, 2), ("short", 1))]
        self.random.shuffle(every)
        chosen, kinds = [], set()
        for kind, file, fault, silent in every:
            if ALL or kind not in kinds or file not in self.files:
                chosen.append((fault, silent))
            kinds.add(kind)
            self.files.add(file)
        return chosen

    def result(self, ran):
        """The results that must be the same each time."""
        return ran

    def may_stay(self, name):
        """Whether a failed run may leave this file."""
        return False

    def storm(self, words, env=None):
        """Each fault: the same as without, or a sentence that names the file, all that is there as it was before, and the next time
        goes well."""
        def done(place, *more, **options):
            return self.result(place.run(words, *more, env=env, **options))

        whole = done(self.place())
        self.assertEqual(whole.status, 0, (words, whole.err))
        before = contents(self.outputs)
        calls = done(self.place(), log=True).calls
        self.assertGreater(len(calls), 5)

        def attempt(what):
            fault, silent = what
            place = self.place()
            ran = done(place, fault, log=True)
            of_kind = [path for kind, path in ran.calls if kind == fault.call]
            where = (words[0], fault, of_kind[fault.at - 1].removeprefix(str(place.folder)), ran.err)
            if silent or ran.status == 0:
                self.assertTrue((ran.status, ran.err, ran.out) == (0, whole.err, whole.out), where)
                self.assertTrue(ran.files == whole.files, (where, "other files"))
                return
            self.assertEqual(ran.status, 1, where)
            self.sentence(ran.err, where)
            self.assertTrue(self.names(ran.err, of_kind[fault.at - 1]), where)
            for name, content in ran.files.items():
                whole_file = content in (before.get(name), whole.files.get(name))
                self.assertTrue(whole_file or self.may_stay(name), (where, name))
            self.assertLessEqual(set(before), set(ran.files), where)
            if ALL or ran.files != before:  # else it is the first time again
                self.assertTrue(done(place) == whole, (where, "the next time"))

        side_by_side(attempt, self.chosen(calls))

    @staticmethod
    def names(message, path):
        """Whether the message names the file of the call, what it becomes, or the folder that it is in."""
        if path.endswith("/said"):
            return "standard output" in message
        if path.endswith("/standard"):
            return "standard input" in message
        if path.endswith("(deleted)") or path.endswith(".part"):  # it has no name yet
            return "/out/" in message
        return path in message or os.path.dirname(path) in message


class ModelCase(FaultCase):
    def setUp(self):
        super().setUp()
        model = random_model(self.inputs / "model", layers=2, heads=2, d_model=8, ctx=64)
        sharded(model, self.inputs / "sharded")
        (self.inputs / "prompt.txt").write_text(PROMPT)
        (self.inputs / "standard").write_text(json.dumps(PROMPT) + "\n")
        (self.inputs / "prompts.jsonl").write_text("".join(json.dumps(f"{PROMPT} number {n}") + "\n" for n in range(3)))
        (self.inputs / "edits.txt").write_text("L1H1.z=0\n")
        (self.inputs / "tour.md").write_text("# A tour\n\nWhere to look.\n\n## A stop\n- prompt: one two\n- layer: 1\n\nLook.\n")
        (self.outputs / "old.csv").write_text("old")
        given = ["--model", model, "--prompt", PROMPT]
        self.succeed("heatmap", *given, "--out", self.inputs / "figure.png")
        self.succeed("trace", *given, "--hooks", "*pattern", "--out", self.inputs / "patterns.safetensors")
        for part in range(2):
            self.succeed("metrics", "--model", model, "--prompts", self.inputs / "prompts.jsonl", "--mean", "--shard", f"{part}/2",
                         "--out", self.inputs / f"part-{part}.json")


class Commands(ModelCase):
    """A test for each of COMMANDS."""


def test_of(words):
    return lambda self: self.storm(words)


for name, words in COMMANDS.items():
    setattr(Commands, "test_" + name.replace(" ", "_"), test_of(words))


class Interrupted(FaultCase):
    def test_leaves_no_part_of_an_answer_where_files_must_have_names(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            place = self.place()
            out = place.folder / "out"
            environment = place.environment(Fault("create", 1, errno.EOPNOTSUPP)) | {"FAULTY_PATH": str(out)}
            process = subprocess.Popen([HEADSCOPE, "predict", "--prompts", "-", "--out", out / "a.jsonl"], stdin=subprocess.PIPE,
                                       stderr=subprocess.PIPE, env=environment)
            until(lambda: process.poll() is not None or any(out.iterdir()))
            self.assertRegex(next(out.iterdir()).name, r"\A\.headscope-.*\.part\Z")
            process.send_signal(number)
            self.assertEqual(process.communicate(b'"one"\n"two"\n', timeout=120), (None, b""))
            self.assertEqual((process.returncode, list(out.iterdir())), (-number, []))


class Fetching(HubCase, FaultCase):
    def test_a_model(self):
        self.server.handle_error = lambda *_: None  # of those who left early
        model = random_model(self.folder / "model", layers=1, heads=2, d_model=8, ctx=64)
        self.server.files = {file.name: file.read_bytes() for file in model.iterdir()}
        self.storm(["get", NAME], env={**self.env, "HF_HOME": "OUT/home"})

    def result(self, ran):
        """Without messages about progress and about files that the hub does not have."""
        return ran._replace(err="".join(ran.err.splitlines(True)[-1:]) if ran.status else "",
                            files={name: content for name, content in ran.files.items() if "/.no_exist/" not in name})

    def may_stay(self, name):
        return name.endswith((".incomplete", ".lock"))


if __name__ == "__main__":
    main()
