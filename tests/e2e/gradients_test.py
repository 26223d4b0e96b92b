"""trace --gradients: compared with a reverse mode in numpy."""
import math
import unittest

import numpy as np

from program import CONFIG, PROMPT, TALES, ProgramCase, main, random_model  # first: it finds the reference
import gpt2_gradients
import gpt2_reference
import strict_safetensors


def name_is_kept(name):
    return not name.endswith("hook_result")


class Gradients(ProgramCase):
    def trace(self, *arguments, model=TALES):
        out = self.folder / "trace.safetensors"
        self.succeed("trace", "--model", model, "--out", out, *arguments)
        tensors, metadata = strict_safetensors.read(out)
        activations = {name for name in tensors if name != "tokens" and not name.endswith("_grad")}
        self.assertEqual(set(tensors) - activations - {"tokens"},
                         {name + "_grad" for name in activations} if "--gradients" in arguments else set())
        return tensors, metadata

    def compare(self, tensors, reference):
        gradients = {name.removesuffix("_grad"): value for name, value in tensors.items() if name.endswith("_grad")}
        self.assertEqual(set(gradients), set(reference))
        for name, expected in reference.items():
            self.assertEqual(gradients[name].shape, expected.shape, name)
            self.assertLessEqual(np.abs(gradients[name] - expected).max(), 1e-4 * np.abs(expected).max(), name)

    def test_every_hook_for_every_metric(self):
        tokens = self.trace("--prompt", PROMPT)[0]["tokens"].tolist()
        logits = gpt2_reference.run_folder(TALES, tokens)["logits"]
        best, second = np.argsort(-logits[-1], kind="stable")[:2]
        log_p = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        for metric, d_logits, value in (
                ("logit", gpt2_gradients.logit(best), logits[-1, best]),
                ("logit:id:7", gpt2_gradients.logit(7), logits[-1, 7]),
                ("difference", gpt2_gradients.logit(best, -1, second), logits[-1, best] - logits[-1, second]),
                ("difference:id:7,id:9", gpt2_gradients.logit(7, -1, 9), logits[-1, 7] - logits[-1, 9]),
                ("logprob", gpt2_gradients.log_probability(best), log_p[-1, best]),
                ("loss", gpt2_gradients.loss(tokens), -log_p[np.arange(len(tokens) - 1), tokens[1:]].mean())):
            with self.subTest(metric):
                tensors, metadata = self.trace("--prompt", PROMPT, "--gradients", metric)
                self.compare(tensors, gpt2_gradients.gradients_of_folder(TALES, tokens, d_logits, name_is_kept))
                self.assertAlmostEqual(float(metadata["gradient_metric_value"]), value, delta=1e-4)

    def test_another_position(self):
        tensors, metadata = self.trace("--prompt", PROMPT, "--gradients", "logprob:id:7", "--position", "3")
        self.compare(tensors, gpt2_gradients.gradients_of_folder(
            TALES, tensors["tokens"].tolist(), gpt2_gradients.log_probability(7, 3), name_is_kept))
        self.assertRegex(metadata["gradient_metric"], r"\Alog probability of .+ after position 3, nats\Z")

    def test_several_chunks_and_the_results_of_heads(self):
        model = random_model(self.folder / "model", layers=2, heads=2, d_model=16, ctx=300)
        ids = np.random.default_rng(1).integers(0, 1000, 300).tolist()
        tensors, _ = self.trace("--ids", ",".join(map(str, ids)), "--hooks", "*,*hook_result", "--gradients", "loss", model=model)
        self.compare(tensors, gpt2_gradients.gradients_of_folder(model, ids, gpt2_gradients.loss(ids)))

    def test_divergence_from_a_second_prompt(self):
        tensors, metadata = self.trace("--prompt", PROMPT, "--gradients", "kl", "--second", "The old king")
        second = self.trace("--prompt", "The old king", "--hooks", "logits")[0]["tokens"].tolist()
        baseline = gpt2_reference.run_folder(TALES, second)["logits"][-1]
        self.compare(tensors, gpt2_gradients.gradients_of_folder(
            TALES, tensors["tokens"].tolist(), gpt2_gradients.divergence(baseline), name_is_kept))
        self.assertEqual(metadata["gradient_metric"], f"KL(baseline || run) after position {len(tensors['tokens']) - 1}, nats")

    def test_edits_count(self):
        edit = ("--edit", "L1H1.z=0")
        tensors, metadata = self.trace("--prompt", PROMPT, "--gradients", "kl", *edit)
        self.assertGreater(float(metadata["gradient_metric_value"]), 0)
        unedited, plain = self.trace("--prompt", PROMPT, "--gradients", "logit:id:7")
        edited, changed = self.trace("--prompt", PROMPT, "--gradients", "logit:id:7", *edit)
        self.assertNotEqual(plain["gradient_metric_value"], changed["gradient_metric_value"])
        for name in ("q", "k", "v"):
            gradient = edited[f"blocks.1.attn.hook_{name}_grad"]
            self.assertFalse(gradient[:, 1].any(), name)
            self.assertTrue(gradient[:, 0].any() and unedited[f"blocks.1.attn.hook_{name}_grad"][:, 1].any(), name)
        self.assertTrue(edited["blocks.1.attn.hook_z_grad"][:, 1].any(), "what a value that is set acts on")

    def test_ranks_are_those_of_the_unedited_run(self):
        plain = self.trace("--prompt", PROMPT, "--gradients", "logit")[1]["gradient_metric"]
        for layer in range(CONFIG["n_layer"]):
            edited = self.trace("--prompt", PROMPT, "--gradients", "logit", "--edit", f"L{layer}.resid_post=1")[1]["gradient_metric"]
            self.assertEqual(edited, plain)

    def test_the_activations_are_those_without_gradients(self):
        without, plain = self.trace("--prompt", PROMPT)
        tensors, metadata = self.trace("--prompt", PROMPT, "--gradients", "loss")
        for name, value in without.items():
            self.assertEqual(tensors[name].tobytes(), value.tobytes(), name)
        self.assertEqual(set(metadata) - set(plain), {"gradient_metric", "gradient_metric_value"})

    def test_many_prompts_make_many_files(self):
        lines = b'"one two"\n{"ids":[1,2,3]}\n'
        self.succeed("trace", "--prompts", "-", "--hooks", "*hook_embed", "--gradients", "loss", "--out",
                     self.folder / "t-{n}.safetensors", stdin=lines)
        for number in (1, 2):
            tensors, metadata = strict_safetensors.read(self.folder / f"t-{number}.safetensors")
            self.assertEqual(set(tensors), {"tokens", "hook_embed", "hook_embed_grad"})
            self.assertTrue(math.isfinite(float(metadata["gradient_metric_value"])))

    def test_wrong_metrics_are_one_sentence(self):
        out = self.folder / "a.safetensors"
        given = ("trace", "--prompt", PROMPT, "--out", out, "--gradients")
        for status, arguments, contains in (
                (2, ["entropy"], "--gradients takes logit, difference, logprob, loss or kl, not \"entropy\""),
                (2, ["logit:"], "is empty: give a token's text, or id:N or rank:N"),
                (2, ["logit:7"], "could be a text, an id or a rank"),
                (2, ["difference:a"], "takes two tokens with a comma between"),
                (2, ["difference:,"], "takes two tokens with a comma between"),
                (2, ["difference:a,b,c"], "takes two tokens with a comma between"),
                (2, ["loss:7"], "--gradients loss names no token"),
                (2, ["kl:7"], "--gradients kl names no token"),
                (2, ["kl"], "--gradients kl compares the run with a baseline"),
                (2, ["loss", "--position", "2"], "--position does not apply"),
                (2, ["logit", "--second", "x"], "--second requires --gradients kl"),
                (1, ["logit:a b c"], "--gradients takes one token"),
                (1, ["logit:id:99999999"], "there is no token 99999999"),
                (1, ["difference:id:3,id:99999999"], "there is no token 99999999"),
                (1, ["logit:id:7", "--position", "500"], "there is no position 500: the last one is"),
                (1, ["kl", "--second", "x", "--position", "5"], "but the baseline has positions 0 to 0")):
            with self.subTest(arguments):
                self.fail_with(status, *given, *arguments, contains=contains)
                self.assertFalse(out.exists())
        self.fail_with(2, "trace", "--prompt", PROMPT, "--out", out, "--position", "3", contains="--position requires --gradients")
        self.fail_with(1, "trace", "--ids", "5", "--out", out, "--gradients", "loss", contains="the prompt has 1 token")
        self.fail_with(1, "trace", "--prompts", "-", "--out", self.folder / "{n}.safetensors", "--gradients", "loss",
                       stdin=b'"a b c"\n{"ids":[5]}\n', contains="standard input:2: the loss needs a token")


if __name__ == "__main__":
    main()
