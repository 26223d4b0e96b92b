"""trace --gradients: compared with a reverse mode in numpy."""

import numpy as np

from program import PROMPT, TALES, ProgramCase, main, random_model  # first: it finds the reference
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
                ("logit --token id:7", gpt2_gradients.logit(7), logits[-1, 7]),
                ("difference", gpt2_gradients.logit(best, -1, second), logits[-1, best] - logits[-1, second]),
                ("difference --token id:7 --other-token id:9", gpt2_gradients.logit(7, -1, 9), logits[-1, 7] - logits[-1, 9]),
                ("logprob", gpt2_gradients.log_probability(best), log_p[-1, best]),
                ("loss", gpt2_gradients.loss(tokens), -log_p[np.arange(len(tokens) - 1), tokens[1:]].mean())):
            with self.subTest(metric):
                tensors, metadata = self.trace("--prompt", PROMPT, "--gradients", *metric.split())
                self.compare(tensors, gpt2_gradients.gradients_of_folder(TALES, tokens, d_logits, name_is_kept))
                self.assertAlmostEqual(float(metadata["gradient_metric_value"]), value, delta=1e-4)

    def test_several_chunks_and_the_results_of_heads(self):
        model = random_model(self.folder / "model", layers=2, heads=2, d_model=16, ctx=300)
        ids = np.random.default_rng(1).integers(0, 1000, 300).tolist()
        tensors, _ = self.trace("--ids", ",".join(map(str, ids)), "--hooks", "*,*hook_result", "--gradients", "loss", model=model)
        self.compare(tensors, gpt2_gradients.gradients_of_folder(model, ids, gpt2_gradients.loss(ids)))

    def test_divergence_from_a_second_prompt(self):
        text = "A girl, and the little girl"
        tensors, metadata = self.trace("--prompt", PROMPT, "--gradients", "kl", "--second", text, "--align", "token")
        second = self.trace("--prompt", text, "--hooks", "logits")[0]["tokens"].tolist()
        baseline = gpt2_reference.run_folder(TALES, second)["logits"][-1]
        self.compare(tensors, gpt2_gradients.gradients_of_folder(
            TALES, tensors["tokens"].tolist(), gpt2_gradients.divergence(baseline), name_is_kept))
        self.assertEqual(metadata["gradient_metric"], f"KL(baseline || run) after position {len(tensors['tokens']) - 1}, nats")


if __name__ == "__main__":
    main()
