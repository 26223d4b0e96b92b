"""What is written for others to read: JSON, whose fields the guide names; SVG, which is XML; and the pictures of the gallery."""
import json
import re
import subprocess
from xml.etree import ElementTree

from program import HEADSCOPE, ROOT, TALES, ProgramCase, main, only_on_linux, png_size, run

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


class Json(ProgramCase):
    def test_has_the_fields_that_the_guide_names(self):
        """Of commands that are no views, and what all views have."""
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


class Svg(ProgramCase):
    ODD = "".join(map(chr, [*range(0x20), 0x7F, 0x85, 0x9F, 0xFDD0, 0xFFFE, 0xFFFF, 0x10FFFF])).encode() + b"<&]]>\"' \xc3 \xed\xa0\x80\xff"

    def test_is_xml_whatever_the_prompt(self):
        """Each id is of one element, and each reference leads to one."""
        for view in self.json("views")["views"]:
            for more in [], ["--svg-text"]:
                with self.subTest(view["id"], more=more):
                    svg = self.succeed(view["id"], "--prompt-file", "-", *more, "--format", "svg", "--out", "-", stdin=self.ODD)
                    ElementTree.fromstring(svg)
                    ids = re.findall(rb' id="([^"]*)"', svg)
                    self.assertEqual(len(ids), len(set(ids)))
                    self.assertLessEqual(set(re.findall(rb'(?:href="|url\()#([^")]*)', svg)), set(ids))


class Gallery(ProgramCase):
    @only_on_linux("the script of a shell")
    def test_is_what_its_script_makes(self):
        gallery = ROOT / "assets" / "gallery"
        script = gallery / "make.sh"
        done = subprocess.run(["sh", script, HEADSCOPE, self.folder], capture_output=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        sizes = dict(re.findall(r"^picture (\S+) .* --size (\d+x\d+)", script.read_text(), re.M))
        for folder in (self.folder, gallery):
            made = {file.stem: "{}x{}".format(*png_size(file.read_bytes())) for file in folder.glob("*.png")}
            self.assertEqual(made, sizes, folder)


if __name__ == "__main__":
    main()
