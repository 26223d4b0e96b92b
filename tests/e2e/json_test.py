"""The page of the guide about JSON, compared with what commands write that are no views."""
import json
import re

from program import ROOT, TALES, ProgramCase, main, run

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
    def test_names_each_field_that_is_written(self):
        page = (ROOT / "assets" / "guide" / "json.md").read_text()
        named = set(re.findall(r"`(\w+)`", page))
        prompts = self.folder / "prompts.txt"
        prompts.write_text("The king\nThe queen\n")
        views = self.json("views")
        answers = [self.json("generate", *PROMPT, *SAMPLING), views, json.loads(run("doctor", "--json").stdout),
                   {name: value for name, value in self.json("info").items() if name != "config"}]
        for more in ([*PROMPT, *EDIT], [*PROMPT, "--second", "A king", "--show", "difference"],
                     ["--prompts", prompts, "--mean", "--shard", "0/2"], [*PROMPT, "--mean-over", prompts]):
            answer = self.json("metrics", *more)
            answers.append({name: value for name, value in answer.items() if name not in ("options", "facts", "columns", "units")})
            self.assertEqual(next(iter(answer)), "how")
        self.assertEqual(set(fields(answers)) - named, set())
        self.assertEqual({view["id"] for view in views["views"]} - named, set())


if __name__ == "__main__":
    main()
