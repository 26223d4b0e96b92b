"""The files that trace and views write."""
import numpy as np

from program import CONFIG, PROMPT, TALES, ProgramCase, main, only_on_linux, random_model  # first: it finds the reference
import gpt2_reference
import strict_safetensors


class Trace(ProgramCase):
    def trace(self, *arguments, model=TALES):
        out = self.folder / "trace.safetensors"
        self.succeed("trace", "--model", model, "--out", out, *arguments)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".")], [])
        return strict_safetensors.read(out)[0]

    def compare(self, tensors, reference):
        self.assertEqual(set(tensors) - {"tokens"}, set(reference))
        for name, expected in reference.items():
            found = tensors[name]
            self.assertEqual(found.shape, expected.shape, name)
            infinite = np.isneginf(expected)
            self.assertTrue(np.array_equal(np.isneginf(found), infinite), name)
            difference = np.abs(np.where(infinite, 0, found) - np.where(infinite, 0, expected)).max()
            magnitude = np.abs(np.where(infinite, 0, expected)).max()
            self.assertLessEqual(difference, 2e-5 * magnitude, name)
            if name.endswith("hook_pattern"):
                self.assertTrue(np.all(found[infinite | (expected == 0)] == 0), name)

    def test_every_hook_of_a_short_prompt(self):
        tensors = self.trace("--prompt", PROMPT)
        ids = tensors["tokens"].tolist()
        reference = gpt2_reference.run_folder(TALES, ids, keep=lambda name: not name.endswith("hook_result"))
        self.compare(tensors, reference)

    def test_every_hook_of_a_prompt_of_several_chunks(self):
        model = random_model(self.folder / "model", layers=2, heads=2, d_model=16, ctx=600)
        ids = np.random.default_rng(1).integers(0, 1000, 600).tolist()
        tensors = self.trace("--ids", ",".join(map(str, ids)), "--hooks", "*,*hook_result", model=model)
        self.assertEqual(tensors["tokens"].tolist(), ids)
        self.compare(tensors, gpt2_reference.run_folder(model, ids))

    def test_only_the_hooks_that_are_asked_for(self):
        self.assertEqual(set(self.trace("--prompt", "a b", "--hooks", "blocks.?.attn.hook_q,logits")),
                         {"tokens", "logits"} | {f"blocks.{layer}.attn.hook_q" for layer in range(CONFIG["n_layer"])})

    def test_the_empty_prompt(self):
        self.assertEqual(self.trace("--prompt", "", "--hooks", "logits")["logits"].shape[0], 1)

    def test_many_prompts_make_many_files(self):
        lines = b'"one"\n{"ids":[1,2,3]}\n'
        self.succeed("trace", "--prompts", "-", "--hooks", "logits", "--out", self.folder / "t-{n}.safetensors", stdin=lines)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["t-1.safetensors", "t-2.safetensors"])
        tensors, metadata = strict_safetensors.read(self.folder / "t-2.safetensors")
        self.assertEqual(tensors["tokens"].tolist(), [1, 2, 3])
        self.assertEqual(metadata["model"], "tales")


class Pictures(ProgramCase):
    @only_on_linux("symbolic links, which Wine 8 lacks")
    def test_replace_a_file_and_keep_a_link(self):
        (self.folder / "real.svg").write_text("old")
        (self.folder / "link.svg").symlink_to("real.svg")
        self.succeed("heatmap", "--prompt", PROMPT, "--out", self.folder / "link.svg")
        self.assertTrue((self.folder / "link.svg").is_symlink())
        self.assertIn(b"<svg", (self.folder / "real.svg").read_bytes()[:400])


if __name__ == "__main__":
    main()
