"""--mean-over: means over a list of prompts, and what they do as edits and ablations, compared with passes in numpy."""
import hashlib
import json
import unittest

import numpy as np

from program import ON_WINDOWS, TALES, ProgramCase, main, run  # first: it finds the reference
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

    def numbers_in_trace(self, edit, *more):
        """The vector that an edit sets, as a trace's file has it."""
        out = self.folder / "numbers.safetensors"
        self.succeed("trace", "--prompt", PROMPT, "--mean-over", self.list, "--out", out, "--hooks", "logits", "--edit", edit, *more)
        texts = [value for value in strict_safetensors.read(out)[1].values() if "=[" in value]
        return "[" + texts[0].partition("=[")[2].partition("]")[0] + "]"

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

    def test_edits_with_their_numbers_give_the_same_run(self):
        answer = self.json("predict", "--prompt", PROMPT, "--mean-over", self.list, "--edit", "L1H2.z=mean; L0H0.z=mean -> L1H6.k")
        how = answer["how"]
        self.assertEqual(how["mean_over"], {"file": "others.jsonl", "sha256": hashlib.sha256(self.list.read_bytes()).hexdigest(),
                                            "prompts": 4, "tokens": sum(len(self.ids(text)) for text in TEXTS)})
        self.assertEqual(how["edits"], ["L1H2.z=mean", "L0H0.z=mean -> L1H6.k"])  # as given: the list is named beside them
        means = {f"L{layer}H{head}": self.numbers_in_trace(f"L{layer}H{head}.z=mean") for layer, head in ((1, 2), (0, 0))}
        again = self.json("predict", "--prompt", PROMPT, "--edit", f"L1H2.z={means['L1H2']}; L0H0.z={means['L0H0']} -> L1H6.k")
        self.assertNotIn("mean_over", again["how"])
        self.assertEqual(again["next"], answer["next"])
        own = self.json("predict", "--prompt", PROMPT, "--edit", "L1H2.z=mean; L0H0.z=mean -> L1H6.k")
        self.assertNotEqual(own["next"], answer["next"])

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

    def test_one_token_is_its_own_mean(self):
        one = self.list_of('{"ids": [17]}', name="one.jsonl")
        reference = gpt2_reference.run_folder(TALES, [17])

        def edit(name, value):
            return np.broadcast_to(reference[name][0], value.shape) if name == "blocks.2.hook_mlp_out" else value
        answer = self.json("sweep", "--prompt", PROMPT, "--ablate", "mean", "--mean-over", one, "--sweep-over", "mlps", "--metric", "logit")
        token = answer["token"]["id"]
        self.assertAlmostEqual(answer["changes"][2][0] + answer["before"], self.logits(PROMPT, edit)[token], delta=1e-4)

    def test_of_the_prompt_itself_are_those_over_its_positions(self):
        itself = self.list_of(json.dumps(PROMPT), name="itself.jsonl")
        for command, field in ((["sweep", "--sweep-over", "head-position"], "changes"), (["sweep", "--sweep-over", "senders"], "changes"),
                               (["circuit", "--edges", "20", "--steps", "2"], "value_without_edges")):
            own = self.json(*command, "--prompt", PROMPT, "--ablate", "mean")
            listed = self.json(*command, "--prompt", PROMPT, "--ablate", "mean", "--mean-over", itself)
            flat = [np.array(answer[field], dtype=float) for answer in (own, listed)]
            np.testing.assert_allclose(flat[1], flat[0], rtol=0, atol=1e-4, err_msg=str(command))
            self.assertGreater(np.nanmax(np.abs(flat[0])), 1e-3)

    def test_the_start_token_is_in_them(self):
        means = self.means(TEXTS, "--bos")["blocks.1.attn.hook_z"]
        numbers = json.loads(self.numbers_in_trace("L1H4.z=mean", "--bos"))
        np.testing.assert_allclose(numbers, means[4], rtol=0, atol=1e-5)

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

    def test_shards_of_different_lists_are_not_merged(self):
        def part(name, prompts, *shard):
            file = self.folder / f"of-{name}.json"
            self.succeed("lens", "--prompts", prompts, "--mean", "--token", " Fox", *shard, "--out", file)
            return file
        one = self.list_of(*map(json.dumps, TEXTS), name="one.jsonl")
        two = self.folder / "two.jsonl"
        two.write_bytes("\r\n".join(map(json.dumps, TEXTS[:2])).encode())  # no line end after the last one
        first, other = part("first", one, "--shard", "0/2"), part("other", two, "--shard", "1/2")
        self.assertEqual(json.loads(other.read_text())["how"]["list"],
                         {"file": "two.jsonl", "sha256": hashlib.sha256(two.read_bytes()).hexdigest(), "prompts": 2})
        self.fail_with(1, "lens", "--merge", first, other, contains="other.json: its list of prompts differs from that of")
        copy = self.folder / "copy.jsonl"
        copy.write_bytes(one.read_bytes())
        shards = [part(f"three-{i}", prompts, "--shard", f"{i}/3") for i, prompts in enumerate((one, copy, two))]
        self.fail_with(1, "lens", "--merge", *shards, contains="three-2.json: its list of prompts differs from that of")
        # Whole lists can be added up. What they are together is no file.
        together = json.loads(self.succeed("lens", "--merge", part("one", one), part("two", two), "--json"))
        self.assertEqual((together["prompts"], "list" in together["how"]), (len(TEXTS) + 2, False))
        piped = json.loads(self.succeed("lens", "--prompts", "-", "--mean", "--token", " Fox", "--json", stdin=two.read_bytes()))
        self.assertEqual(piped["how"]["list"]["sha256"], hashlib.sha256(two.read_bytes()).hexdigest())
        self.assertEqual(piped["how"]["list"]["file"], "standard input")

    def test_a_circuit_is_cut_to_them(self):
        answer = self.json("circuit", "--prompt", PROMPT, "--ablate", "mean", "--mean-over", self.list, "--metric", "logit", "--edges", "10",
                           "--steps", "1")
        self.assertEqual(answer["elsewhere"], "list-mean")
        means, weights = self.means(), gpt2_reference.safetensors_io.read(TALES / "model.safetensors")
        weight = {name.removeprefix("transformer."): value.astype(float) for name, value in weights.items()}
        stream = means["blocks.0.hook_resid_pre"].copy()
        for layer in range(6):
            z = means[f"blocks.{layer}.attn.hook_z"].reshape(-1)
            stream += z @ weight[f"h.{layer}.attn.c_proj.weight"] + weight[f"h.{layer}.attn.c_proj.bias"] + means[f"blocks.{layer}.hook_mlp_out"]
        centered = stream - stream.mean()
        last = centered / np.sqrt((centered ** 2).mean() + 1e-5) * weight["ln_f.weight"] + weight["ln_f.bias"]
        self.assertAlmostEqual(answer["value_without_edges"], last @ weight["wte.weight"][answer["token"]["id"]], delta=1e-3)
        words = self.succeed("circuit", "--prompt", PROMPT, "--ablate", "mean", "--mean-over", self.list, "--edges", "3", "--steps", "1").decode()
        self.assertRegex(words.splitlines()[0], r", means over \d+ tokens of 4 prompts of others.jsonl elsewhere$")

    def test_pictures_are_those_of_the_views(self):
        for command, view in ((["sweep", "--ablate", "mean"], ["sweep", "--sweep-change", "list-mean"]),
                              (["circuit", "--ablate", "mean", "--edges", "20"],
                               ["circuit_graph", "--circuit-elsewhere", "list-mean", "--circuit-edges", "20"])):
            csv = ["--prompt", PROMPT, "--out", "-", "--format", "csv"]
            drawn = self.succeed(*command, *csv, "--mean-over", self.list)
            self.assertEqual(drawn, self.succeed("plot", *view, *csv, "--over", self.list))
            self.assertGreater(drawn.count(b"\n"), 10)
            figure = self.folder / "figure.png"
            self.succeed(*command, "--prompt", PROMPT, "--out", figure, "--mean-over", self.list)
            again = self.folder / "again.png"
            self.succeed("plot", "--recipe", figure, "--out", again)  # which carries the list
            self.assertEqual(again.read_bytes(), figure.read_bytes())
        self.assertIn(b"L0 H0 = mean over the list", self.succeed("plot", "sweep", "--sweep-change", "list-mean", *csv, "--over", self.list))

    def test_a_figure_of_means_says_which_prompts_it_leaves_out(self):
        listed = self.list_of(*map(json.dumps, TEXTS), json.dumps({"prompt": TEXTS[0], "position": 99}), name="some.jsonl")
        done = run("plot", "lens", "--prompts", listed, "--mean", "--out", self.folder / "lens.png")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(self.sentence(done.stderr), r"\Aheadscope: 1 of 5 prompts was skipped: .*\b5: .*99")
        self.succeed("plot", "lens", "--prompts", self.list, "--mean", "--out", self.folder / "lens.png")

    def test_what_does_not_apply_is_refused(self):
        listed = ["--mean-over", self.list]
        self.fail_with(2, "sweep", "--prompt", PROMPT, *listed, contains="--mean-over requires --ablate mean")
        self.fail_with(2, "sweep", "--prompt", PROMPT, "--ablate", "zero", *listed, contains="--mean-over requires --ablate mean")
        self.fail_with(2, "circuit", "--prompt", PROMPT, *listed, contains="--mean-over requires --ablate mean")
        self.fail_with(2, "predict", "--prompt", PROMPT, *listed, contains="--mean-over requires an edit that sets a mean")
        self.fail_with(2, "predict", "--prompt", PROMPT, "--mean-over", "", "--edit", "L0H0.z=mean", contains="--mean-over is empty")
        self.fail_with(1, "predict", "--prompt", PROMPT, *listed, "--edit", "L0H0.z=0", contains="--mean-over has no effect here")
        self.fail_with(1, "predict", "--prompt", PROMPT, *listed, "--edit", "L0.z<-second{L0H0.z=mean}", "--second-model", TALES,
                       contains="are those of the first model")
        self.fail_with(2, "sweep", "--prompt", PROMPT, "--ablate", "mean", "--site", "pattern", *listed,
                       contains="patterns have no mean over positions")
        self.fail_with(2, "plot", "circuit_graph", "--prompt", PROMPT, "--over", self.list, "--out", "a.png", contains="where list-mean is chosen")
        self.fail_with(1, "plot", "sweep", "--prompt", PROMPT, "--sweep-change", "list-mean", "--out", "a.png", contains="give one with --over")
        self.assertNotEqual(run("shot", "--prompt", PROMPT, *listed, "--out", "a.png").returncode, 0)

    @unittest.skipIf(ON_WINDOWS, "only where standard input has a path")
    def test_a_list_from_a_pipe_is_recorded_as_it_was_read(self):
        command = ["predict", "--prompt", PROMPT, "--edit", "L1H2.z=mean", "--mean-over"]
        named, piped = self.json(*command, self.list), self.json(*command, "/dev/stdin", stdin=self.list.read_bytes())
        self.assertEqual(piped["how"].pop("mean_over"), {**named["how"].pop("mean_over"), "file": "stdin"})
        self.assertEqual(piped, named)

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
