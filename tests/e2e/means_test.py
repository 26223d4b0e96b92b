"""--mean-over: means over a list of prompts, and what they do as edits and ablations, compared with passes in numpy."""
import hashlib
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

    def ids(self, text, *more):
        return [token["id"] for token in self.json("tokens", "--prompt", text, *more)["tokens"]]

    def means(self, texts=TEXTS, *more):
        """Each activation's mean over all positions of all texts."""
        passes = [gpt2_reference.run_folder(TALES, self.ids(text, *more)) for text in texts]
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
        answer = self.json("sweep", "--prompt", PROMPT, "--ablate", "mean", "--mean-over", self.list, "--metric", "logit")
        self.assertEqual((answer["change"], answer["how"]["mean_over"]["prompts"]), ("list-mean", 4))
        token = answer["token"]["id"]
        for layer, head in ((0, 0), (2, 5), (5, 7)):
            def edit(name, value):
                value = value.copy()
                if name == f"blocks.{layer}.attn.hook_z":
                    value[:, head] = means[name][head]
                return value
            expected = self.logits(PROMPT, edit)[token] - self.logits(PROMPT, lambda name, value: value)[token]
            self.assertAlmostEqual(answer["changes"][layer][head], expected, delta=1e-4)
        words = self.succeed("sweep", "--prompt", PROMPT, "--ablate", "mean", "--mean-over", self.list).decode()
        self.assertIn(f"; means over {answer['how']['mean_over']['tokens']} tokens of 4 prompts of others.jsonl\n", words)

    def test_neither_the_order_nor_shards_matter(self):
        turned = self.list_of(*(json.dumps(text) for text in reversed(TEXTS)), name="turned.jsonl")
        sweep = ["sweep", "--prompt", PROMPT, "--ablate", "mean", "--mean-over"]
        self.assertEqual(self.json(*sweep, self.list)["changes"], self.json(*sweep, turned)["changes"])
        prompts = self.list_of(*(json.dumps(f"The {name} gave Mr. Fox a horse. Then the {name} gave Mr.")
                                 for name in ("king", "queen", "wolf")), name="prompts.jsonl")
        def whole(listed):
            return ["sweep", "--prompts", prompts, "--ablate", "mean", "--mean-over", listed, "--mean", "--token", " Fox"]
        at_once = self.json(*whole(self.list))
        parts = []
        for part in range(2):
            parts.append(self.folder / f"part-{part}.json")
            self.succeed(*whole(self.list), "--shard", f"{part}/2", "--out", parts[-1])
        merged = self.json("sweep", "--merge", *parts)
        self.assertEqual(merged["means"], at_once["means"])
        self.assertEqual(merged["how"], at_once["how"])
        self.assertEqual(merged["how"]["list"], {"file": "prompts.jsonl", "sha256": hashlib.sha256(prompts.read_bytes()).hexdigest(), "prompts": 3})
        without = self.folder / "without.json"
        self.succeed("sweep", "--prompts", prompts, "--ablate", "mean", "--mean", "--token", " Fox", "--shard", "1/2", "--out", without)
        self.fail_with(1, "sweep", "--merge", parts[0], without, "--json", contains="mean_over")
        self.assertEqual(at_once["of"]["change"], "list-mean")
        words = self.succeed(*whole(self.list)).decode()
        self.assertRegex(words.splitlines()[0], r"^Each head replaced by its mean over a list of prompts: change of logit difference: mean over 3 prompts of prompts.jsonl ± standard error; means over \d+ tokens of "
                         r"4 prompts of others.jsonl$")
        self.assertEqual(self.succeed("sweep", "--merge", *parts).decode(), words)
        other = self.folder / "other.json"
        self.succeed(*whole(turned), "--shard", "1/2", "--out", other)
        self.fail_with(1, "sweep", "--merge", parts[0], other, "--json", contains="mean_over")

    def test_a_bad_list_is_one_sentence_with_its_line(self):
        def said(file, contains):
            self.fail_with(1, "sweep", "--prompt", PROMPT, "--ablate", "mean", "--mean-over", file, contains=contains)
            self.fail_with(1, "predict", "--prompt", PROMPT, "--edit", "L0H0.z=mean", "--mean-over", file, contains=contains)
        said(self.folder / "none.jsonl", "none.jsonl")
        said(self.list_of(), ["there is no prompt in ", "bad.jsonl"])
        said(self.list_of('"one"', "", "two"), "bad.jsonl:3")
        said(self.list_of('"one"', '{"ids": [1, 4096]}'), ["bad.jsonl:2: ", "4096"])
        said(self.list_of('"one"', json.dumps("a dog " * 200)), ["bad.jsonl:2: ", "takes at most 256 (n_ctx)"])
        said(self.folder, self.folder.name)


if __name__ == "__main__":
    main()
