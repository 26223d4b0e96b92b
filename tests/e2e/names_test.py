"""Folders with names of any script, paths longer than Windows once took (260 characters)."""
import json
import shutil

from program import PROMPT, TALES, ProgramCase, main, png_size, spelled  # first: it finds the reference
import safetensors_io

NAMES = ("Zoë Müller", "日本語 😀", "Ω—naïve & (co) %TEMP%", "a'b`c$d")


class Names(ProgramCase):
    def use(self, folder):
        """Reads and writes there."""
        folder.mkdir(parents=True)
        model = folder / "model"
        shutil.copytree(TALES, model, ignore=shutil.ignore_patterns("*.py"))
        prompts = folder / "prompts.jsonl"
        prompts.write_text(json.dumps(PROMPT) + "\n")
        given = ["--model", model, "--prompt", PROMPT]
        self.assertEqual(self.json("info", "--model", model)["folder"], spelled(model))
        expected = self.json("predict", "--prompt", PROMPT)["columns"]
        self.assertEqual(self.json("predict", *given)["columns"], expected)
        self.assertEqual(self.json("predict", "--model", model, "--prompts", prompts)["columns"], expected)
        self.succeed("trace", *given, "--hooks", "logits", "--out", folder / "a.safetensors")
        safetensors_io.read(folder / "a.safetensors")
        for _ in range(2):  # the second takes the first one's place
            self.succeed("heatmap", *given, "--out", folder / "a.png")
        png_size((folder / "a.png").read_bytes())
        self.succeed("heatmap", "--recipe", folder / "a.png", "--model", model, "--out", folder / "b.png")
        self.assertEqual((folder / "b.png").read_bytes(), (folder / "a.png").read_bytes())
        (folder / "bad.txt").write_text("{")
        self.fail_with(1, "predict", *given, "--edits", folder / "bad.txt", contains="bad.txt")
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         ["a.png", "a.safetensors", "b.png", "bad.txt", "model", "prompts.jsonl"])

    def test_of_any_script(self):
        for name in NAMES:
            with self.subTest(name):
                self.use(self.folder / name)

    def test_longer_than_windows_once_took(self):
        folder = self.folder.joinpath(*[f"{n}" * 60 for n in range(8)])
        self.assertGreater(len(str(folder)), 400)
        self.use(folder)


if __name__ == "__main__":
    main()
