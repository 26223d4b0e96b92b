"""--mean-over: means over a list of prompts, and what they do as edits and ablations, compared with passes in numpy."""
import json

import numpy as np

from program import TALES, ProgramCase, main  # first: it finds the reference
import gpt2_reference
import strict_safetensors

PROMPT = "The king gave Mr. Fox a horse. Then the king gave Mr."
TEXTS = ["The queen had a little dog.", "A", "Once upon a time there was a wolf who lived in a wood, and the wolf was old",
         "The king gave Mr. Wolf a cow. Then the queen gave Mr."]


class MeansOverAList(ProgramCase):
    def setUp(self):
        super().setUp()
        self.list = self.folder / "others.jsonl"
        self.list.write_text("".join(json.dumps(text) + "\n" for text in TEXTS))

    def means(self):
        """Each activation's mean over all positions of all texts."""
        passes = [gpt2_reference.run_folder(TALES, self.ids(text)) for text in TEXTS]
        return {name: np.concatenate([one[name] for one in passes]).mean(axis=0) for name in passes[0]
                if not name.endswith(("scores", "pattern"))}

    def logits(self, prompt, edit):
        return gpt2_reference.run_folder(TALES, self.ids(prompt), edit=edit)["logits"][-1]

    def list_of(self, *lines, name="bad.jsonl"):
        file = self.folder / name
        file.write_text("".join(line + "\n" for line in lines))
        return file

    def test_edits_set_them(self):
        means = self.means()
        out = self.folder / "trace.safetensors"
        self.succeed("trace", "--prompt", PROMPT, "--mean-over", self.list, "--out", out, "--edit",
                     "L0H3.z=mean; L2.z[2,5]=mean; L3.mlp_out=mean; L4.mlp_post[*][17]=mean")
        tensors, metadata = strict_safetensors.read(out)

        def edit(name, value):
            value = value.copy()
            if name == "blocks.0.attn.hook_z":
                value[:, 3] = means[name][3]
            if name == "blocks.2.attn.hook_z":
                value[[2, 5]] = means[name]
            if name == "blocks.3.hook_mlp_out":
                value[:] = means[name]
            if name == "blocks.4.mlp.hook_post":
                value[:, 17] = means[name][17]
            return value
        reference = gpt2_reference.run_folder(TALES, self.ids(PROMPT), edit=edit)
        for name in ("blocks.0.attn.hook_z", "blocks.2.attn.hook_z", "blocks.3.hook_mlp_out", "blocks.4.mlp.hook_post", "logits"):
            np.testing.assert_allclose(tensors[name], reference[name], rtol=0, atol=2e-4, err_msg=name)
        self.assertGreater(np.abs(reference["logits"] - gpt2_reference.run_folder(TALES, self.ids(PROMPT))["logits"]).max(), 0.1)
        self.assertIn("L0H3.z=[", json.dumps(metadata))  # the file holds the numbers themselves

    def test_a_sweep_sets_them(self):
        means = self.means()
        answer = self.json("sweep", "--prompt", PROMPT, "--mean-over", self.list, "--metric", "logit")
        self.assertEqual((answer["options"]["sweep-change"], answer["how"]["mean_over"]["prompts"]), ("list-mean", 4))
        token = answer["facts"]["token id"]
        changes = dict(zip(zip(answer["columns"]["layer"], answer["columns"]["head"]), answer["columns"]["change"]))
        for layer, head in ((0, 0), (2, 5), (5, 7)):
            def edit(name, value):
                value = value.copy()
                if name == f"blocks.{layer}.attn.hook_z":
                    value[:, head] = means[name][head]
                return value
            expected = self.logits(PROMPT, edit)[token] - self.logits(PROMPT, lambda name, value: value)[token]
            self.assertAlmostEqual(changes[layer, head], expected, delta=1e-4)

    def test_their_order_does_not_matter(self):
        turned = self.list_of(*(json.dumps(text) for text in reversed(TEXTS)), name="turned.jsonl")
        sweep = ["sweep", "--prompt", PROMPT, "--mean-over"]
        np.testing.assert_allclose(self.json(*sweep, self.list)["columns"]["change"], self.json(*sweep, turned)["columns"]["change"],
                                   rtol=0, atol=1e-5)

    def test_a_bad_list_is_one_sentence_with_its_line(self):
        def said(file, contains):
            self.fail_with(1, "sweep", "--prompt", PROMPT, "--mean-over", file, contains=contains)
            self.fail_with(1, "predict", "--prompt", PROMPT, "--edit", "L0H0.z=mean", "--mean-over", file, contains=contains)
        said(self.folder / "none.jsonl", "none.jsonl")
        said(self.list_of(), ["there is no prompt in ", "bad.jsonl"])
        said(self.list_of('"one"', "", "two"), "bad.jsonl:3")
        said(self.list_of('"one"', '{"ids": [1, 4096]}'), ["bad.jsonl:2: ", "4096"])
        said(self.list_of('"one"', json.dumps("a dog " * 200)), ["bad.jsonl:2: ", "takes at most 256 (n_ctx)"])
        said(self.folder, self.folder.name)


if __name__ == "__main__":
    main()
