"""The page of the guide about JSON, compared with what commands write that are no views; and answers in files."""
import json
import re

import numpy as np

from program import ROOT, TALES, ProgramCase, main, random_model, run

import safetensors_io

PROMPT = ["--prompt", "The king"]
EDIT = ["--edit", "L1H1.z=0", "--edit", "L2.z<-second", "--second-model", TALES]
SAMPLING = ["--tokens", "2", "--temperature", "0.7", "--top-k", "9", "--top-p", "0.9", "--seed", "3"]


def fields(value):
    """The names of all fields of a value, at any depth."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from fields(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from fields(inner)


class JsonPage(ProgramCase):
    def odd_model(self):
        """One whose tensors' names have a prefix, and with a tensor that is not used."""
        model = random_model(self.folder / "odd", layers=1, heads=1, d_model=4, ctx=8)
        tensors = safetensors_io.read(model / "model.safetensors") | {"h.7.ln_1.weight": np.ones(4, "<f4")}
        safetensors_io.write(model / "model.safetensors", [("transformer." + name, "F32", values.shape, lambda values=values: values)
                                                           for name, values in tensors.items()])
        return model

    def test_names_each_field_that_is_written(self):
        page = (ROOT / "assets" / "guide" / "json.md").read_text()
        named = set(re.findall(r"`(\w+)`", page))
        prompts = self.folder / "prompts.txt"
        prompts.write_text("The king\nThe queen\n")
        views = self.json("views")
        answers = [self.json("generate", *PROMPT, *SAMPLING), views, json.loads(run("doctor", "--json").stdout),
                   {name: value for name, value in self.json("info", "--model", self.odd_model(), notes=True).items() if name != "config"}]
        for more in ([*PROMPT, *EDIT], [*PROMPT, "--second", "A king", "--show", "difference"],
                     ["--prompts", prompts, "--mean", "--shard", "0/2"], [*PROMPT, "--mean-over", prompts]):
            answer = self.json("metrics", *more)
            answers.append({name: value for name, value in answer.items() if name not in ("options", "facts", "columns", "units")})
            self.assertEqual(next(iter(answer)), "how")
        self.assertEqual(set(fields(answers)) - named, set())
        self.assertEqual({view["id"] for view in views["views"]} - named, set())


class AnswersInFiles(ProgramCase):
    def test_are_those_of_standard_output(self):
        for command in (["lens", *PROMPT], ["generate", *PROMPT, "--tokens", "3"], ["info"], ["views"]):
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
        self.fail_with(1, "attribute", *PROMPT, "--query", "9", "--out", out, contains="no token 9")
        self.assertEqual(out.read_text(), "before")
        self.assertEqual([file.name for file in self.folder.iterdir()], ["answer.json"])


if __name__ == "__main__":
    main()
