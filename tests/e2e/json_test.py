"""The page of the guide about JSON, compared with what every command writes: each written field is in it, and each field in it is written."""
import json
import re

import numpy as np

from program import ROOT, TALES, ProgramCase, main, random_model, run

import safetensors_io

PROMPT = ["--prompt", "The king gave Mr. Fox a horse. Then the king gave Mr."]
SECOND = ["--second", "The king gave to a Fox a horse. Then the king gave Mr."]
SHORT = ["--prompt", "The king"]
EDIT = ["--edit", "L1H1.z=0"]
# The arguments of each command, which together write each of its fields.
RUNS = {
    "tokens": [PROMPT, ["--prompt", ""]],
    "predict": [[*PROMPT, "--all-positions", "--top", "2", "--bos"], [*SHORT, *EDIT, "--edit", "L2.z<-second", "--second-model", TALES]],
    "lens": [[*SHORT, "--top", "2"], [*SHORT, "--token", " the", "--position", "0"], ["pairs", "--token", " the", "--position", "1"]],
    "attribute": [["pairs"], ["pairs", "--token", " the", "--other-token", " a", "--position", "1"], SHORT, [*SHORT, "--metric", "difference", "--sources", "all", "--neurons-of", "2", "--edit",
                                     "L1H1.z*=0.5; L2.resid_pre+=0.1; L2.mlp_out*=0.5"]],
    "score": [SHORT, [*SHORT, "--layer", "1", "--key", "0", "--edit", "L1.scores[1,0]=null"],
              [*SHORT, "--layer", "1", "--key", "0", "--edit", "L1.scores[1,0]=2.5"]],
    "composition": [["--top", "1"]],
    "saliency": [SHORT, [*SHORT, "--metric", "loss"], [*SHORT, "--metric", "difference", "--method", "integrated", "--steps", "2"]],
    "circuit": [[*PROMPT, *SECOND, "--steps", "1", "--edges", "5"],
                [*PROMPT, "--metric", "loss", "--method", "flow", "--by-position", "--edges", "5"]],
    "sweep": [[*SHORT, "--estimates", "also"], [*SHORT, "--second", "A king", "--metric", "kl", "--sweep-over", "senders"],
              [*SHORT, "--second", "A king", "--restored"], ["pairs", "--metric", "kl"], [*SHORT, "--ablate", "mean", "--mean-over", "list"],
              ["pairs", "--ablate", "mean", "--mean-over", "list"],
              ["pairs", "--second", "A king", "--sweep-over", "layer-position", "--token", " the", "--other-token", " a", "--position", "-1",
               "--align", "position"],
              ["pairs", "--sweep-over", "senders"],
              [*SHORT, "--second", "A king", "--restored", "--sweep-over", "neurons", "--top", "2"],
              [*SHORT, "--second", "A king", "--restored", "--sweep-over", "head-position", "--estimates", "also"]],
    "generate": [[*SHORT, "--tokens", "2", "--temperature", "0.7", "--top-k", "9", "--top-p", "0.9", "--seed", "3"]],
    "metrics": [["--repeated", "1,3"], SHORT, "shard"],
    "search": [[*PROMPT, "--top", "2", "--context", "1"], [*PROMPT, "--neurons", "3.17", "--top", "2"], "attention"],
    "info": [[], "odd"],
    "views": [[]],
    "doctor": [[]],
}
SHARED = {"how": "How an answer was made", "prompt token": "Tokens of a prompt", "token": "A token", "guess": "A guess",
          "cell mean": "Means over a list"}


def page():
    """Its tables: heading -> {field: [types]}."""
    tables, heading = {}, ""
    for line in (ROOT / "assets" / "guide" / "json.md").read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif found := re.match(r"\| `([^`]+)` \| ([^|]+?) \|", line):
            fields = tables.setdefault(heading, {})
            assert found[1] not in fields, f"{heading}: {found[1]} is there twice"
            fields[found[1]] = found[2].split(" or ")
    return tables


def expanded(fields, tables):
    """The fields of a command with those of the shared tables that they name."""
    result = {}
    for field, types in fields.items():
        result[field] = [("object" if kind in SHARED else kind) for kind in types]
        for kind in types:
            if kind in SHARED:
                if field.endswith("[]"):
                    del result[field]
                for name, inner in tables[SHARED[kind]].items():
                    result[f"{field}.{name}"] = inner
    return result


def kind_of(value):
    if value is None:
        return "null"
    return {bool: "boolean", int: "integer", float: "number", str: "string", list: "list", dict: "object"}[type(value)]


def documented(path, fields):
    """The documented field of a written one, whose name may be a variable part."""
    if path in fields:
        return path
    for field in fields:
        if "*" in field and re.fullmatch(re.escape(field).replace(r"\*", r"[^.\[\]]+"), path):
            return field
    return None


def written(value, path=""):
    """The fields of a value with their types; of an object in a list, its own fields."""
    if path and not (path.endswith("[]") and isinstance(value, dict)):
        yield path, kind_of(value)
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from written(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from written(inner, path + "[]")


class JsonPage(ProgramCase):
    def answers(self, command, arguments):
        if arguments == "shard":
            prompts = self.folder / "prompts.txt"
            prompts.write_text("one two one\ntwo one two\nthree one three\n")
            arguments = ["--prompts", prompts, "--shard", "0/2"]
        if arguments[:1] == ["pairs"]:
            pairs = self.folder / "pairs.jsonl"
            pairs.write_text("".join(json.dumps({"prompt": text, "token": " the", "other_token": " a"}) + "\n"
                                     for text in ("The king", "The queen")))
            arguments = ["--prompts", pairs, "--shard", "0/2", "--mean", *arguments[1:]]
        if arguments[-1:] == ["list"]:
            listed = self.folder / "list.txt"
            listed.write_text("The old queen\n")
            arguments = [*arguments[:-1], listed]
        if arguments == "attention":
            arguments = ["--attention", self.attention_file()]
        if arguments == "odd":
            return self.json("info", "--model", self.odd_model(), notes=True)
        if command == "doctor":  # its status says whether all of the program works here
            return json.loads(run(command, *arguments, "--json").stdout)
        return self.json(command, *arguments)

    def odd_model(self):
        """One whose tensors' names have a prefix, and with a tensor that is not used."""
        model = random_model(self.folder / "odd", layers=1, heads=1, d_model=4, ctx=8)
        tensors = safetensors_io.read(model / "model.safetensors") | {"h.7.ln_1.weight": np.ones(4, "<f4")}
        safetensors_io.write(model / "model.safetensors", [("transformer." + name, "F32", values.shape, lambda values=values: values)
                                                           for name, values in tensors.items()])
        return model

    def attention_file(self):
        file = self.folder / "attention.safetensors"
        safetensors_io.write(file, [("blocks.0.attn.hook_pattern", "F32", [1, 2, 2], lambda: np.array([[[1, 0], [0.25, 0.75]]], "<f4"))],
                             {"tokens": json.dumps(["the", "king"])})
        return file

    def test_has_each_field_that_is_written_and_no_other(self):
        tables = page()
        shared_seen = {kind: set() for kind in SHARED}
        for command, runs in RUNS.items():
            fields, seen = expanded(tables[command], tables), {}
            for arguments in runs:
                for path, kind in written(self.answers(command, arguments)):
                    field = documented(path, fields)
                    self.assertIsNotNone(field, f"{command} {arguments}: {path} is not on the page")
                    kinds = fields[field]
                    fits = kind in kinds or (kind == "integer" and "number" in kinds)
                    self.assertTrue(fits, f"{command} {arguments}: {path} is {kind}, but the page says {kinds}")
                    seen.setdefault(field, set()).add(kind)
            for field in fields:
                if field in tables[command]:
                    self.assertIn(field, seen, f"{command} never writes {field}")
                    self.assertTrue(seen[field] - {"null"}, f"{command}: {field} is always null")
            for field, kinds in tables[command].items():
                for kind in set(kinds) & set(SHARED):
                    inner = {name for name in tables[SHARED[kind]] if f"{field}.{name}" in seen}
                    shared_seen[kind] |= inner
        for kind, seen in shared_seen.items():
            self.assertEqual(set(tables[SHARED[kind]]), seen, kind)

    def test_has_every_command_with_json(self):
        self.assertEqual(set(RUNS), set(page()) - set(SHARED.values()))
        commands = re.findall(r"^  ([a-z]+)  ", self.succeed("--help").decode(), re.M)
        self.assertEqual(set(RUNS), {command for command in commands
                                     if re.search(r"^ +--json\b", self.succeed(command, "--help").decode(), re.M)})

    def test_how_is_first_and_says_which_tokens_were_matched(self):
        self.assertEqual(next(iter(self.answers("metrics", "shard"))), "how")
        prompts = ["--prompt", "The king", "--second", "The old king"]
        counterparts = {by: self.json("sweep", *prompts, "--align", by)["how"]["counterparts"] for by in ("position", "token")}
        self.assertEqual(counterparts, {"position": [0, 1], "token": [0, 2]})


class AnswersInFiles(ProgramCase):
    """--out of the commands that print an answer."""
    COMMANDS = (["tokens", *SHORT], ["predict", *SHORT], ["lens", *SHORT], ["attribute", *SHORT], ["score", *SHORT], ["composition"],
                ["saliency", *SHORT], ["circuit", *PROMPT, "--steps", "1"], ["sweep", *SHORT], ["generate", *SHORT, "--tokens", "3"],
                ["metrics", *SHORT], ["search", *SHORT], ["info"], ["views"])

    def test_are_those_of_standard_output(self):
        for command in self.COMMANDS:
            for ending, flags in (("txt", []), ("json", ["--json"])):
                out = self.folder / f"{command[0]}.{ending}"
                self.assertEqual(self.succeed(*command, "--out", out), b"", command)
                self.assertEqual(out.read_bytes(), self.succeed(*command, *flags), command)
                self.assertEqual(self.succeed(*command, "--out", "-", "--format", ending), out.read_bytes(), command)

    def test_have_all_prompts_in_one_file(self):
        out = self.folder / "answers.jsonl"
        self.succeed("predict", "--prompts", "-", "--out", out, stdin=b'"one"\n"two"\n')
        self.assertEqual([json.loads(line)["how"]["prompt"] for line in out.read_text().splitlines()], ["one", "two"])

    def test_are_not_there_when_the_run_fails(self):
        out = self.folder / "answer.json"
        out.write_text("before")
        self.fail_with(1, "attribute", *SHORT, "--position", "9", "--out", out, contains="position 9")
        self.assertEqual(out.read_text(), "before")
        self.assertEqual([file.name for file in self.folder.iterdir()], ["answer.json"])


if __name__ == "__main__":
    main()
