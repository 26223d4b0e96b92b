"""info, tokens, predict, generate, views: their output, compared with the float64 reference and the input bytes."""
import json
import os
import shutil
import subprocess
import unittest

import numpy as np

import strict_safetensors
from program import CONFIG, END_OF_TEXT, HEADSCOPE, ON_WINDOWS, PROMPT, TALES, ProgramCase, main, run, spelled  # first: it finds the reference
import gpt2_reference
import safetensors_io

HOSTILE_PROMPTS = [
    b"", b" ", b"\n\n\t ", "h\u00e9llo \u4e16\u754c \U0001f642\u200d\U0001f600 e\u0301".encode(), b"\xff\xfe\xe2\x82 \x80", b"--help", b"-", b"{}", b"%s%n",
    b"\x01\x1b[31m\x7f", END_OF_TEXT.encode(), b"a <|endoftext|> b", b"'s 'll 123 !!!", b"\xed\xa0\x80\xc0\xaf",
]


def is_text(prompt):
    """Whether an argument can have these bytes on Windows, whose arguments are UTF-16."""
    try:
        prompt.decode()
    except UnicodeDecodeError:
        return False
    return True


class Info(ProgramCase):
    def test_names_every_tensor_of_the_file(self):
        info = self.json("info", "--model", TALES)
        tensors = safetensors_io.read(TALES / "model.safetensors")
        found = {parameter["name"]: tuple(parameter["shape"]) for parameter in info["parameters"]}
        self.assertEqual(found, {name.removeprefix("transformer."): value.shape for name, value in tensors.items()})
        self.assertEqual(info["parameter_count"], sum(value.size for value in tensors.values()))
        config = json.loads((TALES / "config.json").read_text())
        for key in ("n_layer", "n_head", "n_embd", "n_ctx", "vocab_size", "activation_function"):
            self.assertEqual(info["config"][key], config[key])

    def test_table_for_people(self):
        text = self.succeed("info", "--model", TALES).decode()
        for part in ("wte.weight", "n_layer", "gelu_new"):
            self.assertIn(part, text)

    def test_without_model_the_bundled_one(self):
        self.assertEqual(self.json("info")["name"], "tales")


class HuggingFaceCache(ProgramCase):
    def test_models_go_by_their_name(self):
        repository = self.folder / "hub" / "models--a-school--tiny-tales"
        snapshot = repository / "snapshots" / "0123456789abcdef"
        snapshot.mkdir(parents=True)
        (repository / "blobs").mkdir()
        for number, file in enumerate(sorted(TALES.iterdir())):  # links to blobs, as in a real cache
            shutil.copy(file, repository / "blobs" / str(number))
            (snapshot / file.name).symlink_to(f"../../blobs/{number}")
        for name in ("a-school/tiny-tales", "tiny-tales"):
            info = self.json("info", "--model", name, env={"HF_HOME": spelled(self.folder)})
            self.assertEqual((info["name"], info["folder"]), ("a-school/tiny-tales", spelled(snapshot)))
        self.assertEqual(run("info", "--model", "tiny-tales", env={"HF_HOME": "/nowhere"}).returncode, 1)


class Tokens(ProgramCase):
    def test_any_bytes_come_back(self):
        for number, prompt in enumerate(HOSTILE_PROMPTS):
            file = self.folder / f"prompt-{number}"
            file.write_bytes(prompt)
            ways = [self.json("tokens", "--prompt-file", file), self.json("tokens", "--prompt-file", "-", stdin=prompt)]
            if not ON_WINDOWS or is_text(prompt):
                ways.append(self.json("tokens", "--prompt", prompt))
            for way in ways:
                self.assertEqual(way, ways[0])
            tokens = ways[0]["tokens"]
            self.assertEqual(b"".join(bytes(token["bytes"]) for token in tokens), prompt)
            end = 0
            for token in tokens:
                self.assertEqual(token["start"], end)
                end = token["end"]
                self.assertEqual(bytes(token["bytes"]), prompt[token["start"]:end])
                self.assertEqual(token["text"], bytes(token["bytes"]).decode("utf-8", "replace"))
            self.assertEqual(end, len(prompt))

    def test_needs_only_the_tokenizers_files(self):
        for name in ("vocab.json", "merges.txt"):
            shutil.copy(TALES / name, self.folder)
        self.assertEqual(self.json("tokens", "--model", self.folder, "--prompt", PROMPT)["tokens"],
                         self.json("tokens", "--model", TALES, "--prompt", PROMPT)["tokens"])

    def test_ids_and_the_start_token(self):
        ids = [token["id"] for token in self.json("tokens", "--prompt", PROMPT)["tokens"]]
        given = self.json("tokens", "--ids", ",".join(map(str, ids)))
        self.assertEqual(given, self.json("tokens", "--prompt", PROMPT))
        first = self.json("tokens", "--prompt", PROMPT, "--bos")["tokens"][0]
        self.assertEqual((first["text"], first["start"], first["end"]), (END_OF_TEXT, 0, 0))

    def test_table_for_people(self):
        text = self.succeed("tokens", "--prompt-file", "-", stdin=b"a \xff").decode("utf-8", "strict")
        self.assertIn("<FF>", text)

    def test_many_prompts_answer_line_by_line(self):
        prompts = ["one", "", "zwei \u00e4", "\U0001f642"]
        lines = [json.dumps(prompts[0]), json.dumps(prompts[1]), "", json.dumps({"prompt": prompts[2]}), json.dumps(prompts[3])]
        out = self.succeed("tokens", "--prompts", "-", "--json", stdin="\n".join(lines).encode()).decode().splitlines()
        self.assertEqual([json.loads(line) for line in out], [self.json("tokens", "--prompt", prompt) for prompt in prompts])


class Predict(ProgramCase):
    @classmethod
    def setUpClass(cls):
        cls.ids = [token["id"] for token in json.loads(run("tokens", "--prompt", PROMPT, "--json").stdout)["tokens"]]
        cls.logits = gpt2_reference.run_folder(TALES, cls.ids)["logits"]
        cls.probabilities = gpt2_reference.softmax(cls.logits)

    def check(self, position, guesses, count):
        self.assertEqual(len(guesses), count)
        expected = np.argsort(-self.logits[position], kind="stable")[:count]
        for guess, best in zip(guesses, expected):
            self.assertAlmostEqual(guess["logit"], self.logits[position][best], delta=1e-3)
            self.assertAlmostEqual(guess["logit"], self.logits[position][guess["id"]], delta=1e-3)
            self.assertAlmostEqual(guess["probability"], self.probabilities[position][guess["id"]], delta=1e-4)
            self.assertEqual(guess["text"], bytes(guess["bytes"]).decode("utf-8", "replace"))

    def test_is_what_the_reference_computes(self):
        answer = self.json("predict", "--prompt", PROMPT, "--top", "7")
        self.assertEqual([token["id"] for token in answer["tokens"]], self.ids)
        self.check(-1, answer["next"], 7)

    def test_all_positions(self):
        answer = self.json("predict", "--prompt", PROMPT, "--top", "3", "--all-positions")
        self.assertEqual([entry["position"] for entry in answer["positions"]], list(range(len(self.ids))))
        for entry in answer["positions"]:
            position = entry["position"]
            self.check(position, entry["next"], 3)
            if position + 1 == len(self.ids):
                self.assertIsNone(entry["following"])
                continue
            following, actual = entry["following"], self.ids[position + 1]
            self.assertEqual(following["id"], actual)
            self.assertAlmostEqual(following["probability"], self.probabilities[position][actual], delta=1e-4)
            better = np.sum(self.logits[position] > self.logits[position][actual] + 2e-3)
            close = np.sum(np.abs(self.logits[position] - self.logits[position][actual]) <= 2e-3)
            self.assertTrue(better < following["rank"] <= better + close, "ranks start at 1")
        self.assertEqual(answer["next"], answer["positions"][-1]["next"])

    def test_all_positions_of_a_long_prompt(self):
        ids = ",".join(str(5 + i) for i in range(40))
        positions = self.json("predict", "--ids", ids, "--top", "1", "--all-positions")["positions"]
        self.assertEqual([entry["position"] for entry in positions], list(range(40)))
        self.assertEqual([entry["following"]["id"] for entry in positions[:-1]], list(range(6, 45)))

    def test_all_of_the_vocabulary_sums_to_one(self):
        answer = self.json("predict", "--prompt", PROMPT, "--top", "999999")
        self.assertEqual(len(answer["next"]), self.logits.shape[1])
        self.assertAlmostEqual(sum(guess["probability"] for guess in answer["next"]), 1, places=6)

    def test_the_same_however_it_is_asked(self):
        expected = self.succeed("predict", "--prompt", PROMPT, "--json")
        file = self.folder / "prompt.txt"
        file.write_text(PROMPT)
        ids = ",".join(map(str, self.ids))
        for way in (["--ids", ids], ["--prompt-file", file], ["--prompt=" + PROMPT], ["--prompt", PROMPT, "--threads", "1"],
                    ["--prompt", PROMPT, "--threads", "3"], ["--model", TALES, "--prompt", PROMPT]):
            self.assertEqual(self.succeed("predict", *way, "--json"), expected, way)

    def test_the_empty_prompt_runs_the_start_token(self):
        empty = self.json("predict", "--prompt", "")
        self.assertEqual([token["text"] for token in empty["tokens"]], [END_OF_TEXT])
        self.assertEqual(empty["next"], self.json("predict", "--prompt", END_OF_TEXT)["next"])
        self.assertEqual(empty["next"], self.json("predict", "--ids", "")["next"])

    def test_the_start_token_first(self):
        self.assertEqual(self.json("predict", "--prompt", PROMPT, "--bos")["next"],
                         self.json("predict", "--prompt", END_OF_TEXT + PROMPT)["next"])

    def test_half_precision_is_close(self):
        exact = self.json("predict", "--prompt", PROMPT, "--top", "1")["next"][0]
        for precision, tolerance in (("f16", 0.01), ("bf16", 0.2)):
            near = self.json("predict", "--prompt", PROMPT, "--top", "5", "--precision", precision)["next"]
            same = [guess for guess in near if guess["id"] == exact["id"]]
            self.assertTrue(same and abs(same[0]["logit"] - exact["logit"]) < tolerance, near)

    def test_many_prompts(self):
        file = self.folder / "prompts.jsonl"
        file.write_text(json.dumps(PROMPT) + "\n" + json.dumps({"ids": self.ids[:3]}) + "\n")
        lines = self.succeed("predict", "--prompts", file, "--json").splitlines()
        self.assertEqual(json.loads(lines[0]), self.json("predict", "--prompt", PROMPT))
        self.assertEqual(json.loads(lines[1]), self.json("predict", "--ids", ",".join(map(str, self.ids[:3]))))

    def test_table_for_people(self):
        text = self.succeed("predict", "--prompt", PROMPT, "--top", "2").decode()
        self.assertIn("probability", text)
        self.assertEqual(self.succeed("predict", "--prompt", PROMPT, "--all-positions").decode().count("after position"),
                         len(self.ids))


class Edits(ProgramCase):
    """Edits: compared with the reference with the same edit."""

    def test_a_head_that_is_off(self):
        clean = self.json("predict", "--prompt", PROMPT, "--top", "5")
        off = self.json("predict", "--prompt", PROMPT, "--top", "5", "--edit", "L5H1.z=0", "--edit", "L1H6.z = 0")
        self.assertNotEqual(clean["next"], off["next"])
        path = self.folder / "edits.json"
        path.write_text('[{"site": "blocks.5.attn.hook_z", "head": 1, "set": 0},'
                        ' {"site": "blocks.1.attn.hook_z", "head": 6, "set": 0}]')
        self.assertEqual(self.json("predict", "--prompt", PROMPT, "--top", "5", "--edits", path), off)
        self.assertEqual(self.json("predict", "--prompt", PROMPT, "--top", "5", "--edits", path, "--edit", "L5H1.z*=2")["next"],
                         off["next"])
        by_name = self.json("predict", "--prompt", PROMPT, "--edit", "blocks.5.attn.hook_z=0")
        self.assertEqual(by_name, self.json("predict", "--prompt", PROMPT, "--edit", "L5.z=0"))

    def test_in_every_command_that_runs_the_model(self):
        for command in (["predict"], ["lens"], ["attribute"], ["score", "--layer", "1"], ["metrics"], ["generate", "--tokens", "5"],
                        ["search", "--from", "any", "--to", "any", "--above", "0.5"]):
            clean = self.succeed(*command, "--prompt", PROMPT)
            self.assertNotEqual(self.succeed(*command, "--prompt", PROMPT, "--edit", "mask=none"), clean, command)
        for command, name in ((["trace", "--hooks", "logits"], "x.safetensors"), (["plot", "heatmap"], "x.png"), (["plot", "heatmap"], "x.csv")):
            out = self.folder / name
            self.succeed(*command, "--prompt", PROMPT, "--out", out)
            clean = out.read_bytes()
            self.succeed(*command, "--prompt", PROMPT, "--out", out, "--edit", "pos_embed=0")
            self.assertNotEqual(out.read_bytes(), clean, command)

    def test_a_trace_holds_the_edited_run(self):
        out = self.folder / "x.safetensors"
        self.succeed("trace", "--prompt", PROMPT, "--hooks", "*attn.hook_z,*hook_pattern", "--out", out,
                     "--edit", "L2H3.z[4]=0.5; L4H0.pattern[6,2]~=0.75")
        tensors = strict_safetensors.read(out)[0]
        self.assertTrue(np.all(tensors["blocks.2.attn.hook_z"][4, 3] == 0.5))
        row = tensors["blocks.4.attn.hook_pattern"][0, 6]
        self.assertEqual(row[2], 0.75)
        self.assertAlmostEqual(float(row.sum()), 1, delta=1e-6)

    def test_a_wrong_one_is_one_sentence(self):
        self.fail_with(1, "predict", "--prompt", PROMPT, "--edit", "L9.z=0", contains="names layer 9, but the model has layers 0 to 5")
        self.fail_with(1, "predict", "--prompt", PROMPT, "--edit", "nonsense", contains='"nonsense" is not a site')
        self.fail_with(1, "predict", "--prompt", PROMPT, "--edits", self.folder / "none.json", contains="none.json")
        path = self.folder / "edits.json"
        path.write_text('[{"mask": "none"}, {"site": "blocks.0.attn.hook_z", "set": "median"}]')
        self.fail_with(1, "trace", "--prompt", PROMPT, "--out", self.folder / "x.safetensors", "--edits", path,
                       contains=["edits.json", "edit 2"])
        plot = ("plot", "heatmap", "--prompt", PROMPT, "--layer", "2", "--head", "1", "--query", "1", "--out", self.folder / "x.png")
        self.succeed(*plot, "--key", "3", "--edit", "L2H1.mask=none")
        self.fail_with(1, *plot, "--key", "3", contains="there is no key 3")
        self.fail_with(1, *plot, "--key", "3", "--edit", "L2H1.pattern[1,2]=0.5", contains="query 1 does not see key 3 in L2 H1")
        self.fail_with(2, "metrics", "--repeated", "10,2", "--edit", "mask=none", contains="--repeated measures the unedited model")


class Reference(ProgramCase):
    """A prompt and the reference's results for it."""

    @classmethod
    def setUpClass(cls):
        cls.ids = [token["id"] for token in json.loads(run("tokens", "--prompt", PROMPT, "--json").stdout)["tokens"]]
        cls.activations = gpt2_reference.run_folder(TALES, cls.ids)
        cls.weights = {name.removeprefix("transformer."): value.astype(np.float64)
                       for name, value in safetensors_io.read(TALES / "model.safetensors").items()}

    def unembed(self, rows):
        centered = rows - rows.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centered**2).mean(axis=-1, keepdims=True) + CONFIG["layer_norm_epsilon"])
        return (centered / scale * self.weights["ln_f.weight"] + self.weights["ln_f.bias"]) @ self.weights["wte.weight"].T


class Lens(Reference):
    def test_is_what_the_reference_computes(self):
        answer = self.json("lens", "--prompt", PROMPT, "--top", "3")
        self.assertEqual([token["id"] for token in answer["tokens"]], self.ids)
        self.assertEqual([entry["position"] for entry in answer["positions"]], list(range(len(self.ids))))
        end = gpt2_reference.softmax(self.activations["logits"])
        layers = CONFIG["n_layer"]
        hooks = [f"blocks.{layer}.hook_resid_{where}" for layer in range(layers) for where in ("pre", "mid")]
        hooks.append(f"blocks.{layers - 1}.hook_resid_post")
        for entry in answer["positions"]:
            position, final = entry["position"], entry["answer"]["id"]
            self.assertEqual(final, int(np.argmax(end[position])))
            self.assertEqual([place["hook"] for place in entry["places"]], hooks)
            for place in entry["places"]:
                here = gpt2_reference.softmax(self.unembed(self.activations[place["hook"]][position]))
                self.assertAlmostEqual(place["probability"], here[final], delta=1e-4)
                self.assertTrue(np.sum(here > 1.001 * here[final]) < place["rank"] <= np.sum(here >= 0.999 * here[final]))
                divergence = np.sum(end[position] * np.log(end[position] / here))
                self.assertAlmostEqual(place["kl"], divergence, delta=1e-3 * divergence + 1e-4)
                self.assertEqual(len(place["guesses"]), 3)
                for guess, best in zip(place["guesses"], np.sort(here)[::-1]):
                    self.assertAlmostEqual(guess["probability"], best, delta=1e-4)
            self.assertEqual((entry["places"][-1]["rank"], entry["places"][-1]["kl"]), (1, 0))

    def test_of_a_token_and_a_position(self):
        token = self.json("tokens", "--prompt", " the")["tokens"][0]["id"]
        answer = self.json("lens", "--prompt", PROMPT, "--token", " the", "--position", "4")
        (entry,) = answer["positions"]
        self.assertEqual((entry["position"], entry["answer"]["id"]), (4, token))
        for place in entry["places"]:
            here = gpt2_reference.softmax(self.unembed(self.activations[place["hook"]][4]))
            self.assertAlmostEqual(place["probability"], here[token], delta=1e-4)
            self.assertTrue(np.sum(here > 1.001 * here[token]) < place["rank"] <= np.sum(here >= 0.999 * here[token]))
        self.assertEqual(self.json("lens", "--prompt", PROMPT, "--position", "-1")["positions"],
                         self.json("lens", "--prompt", PROMPT)["positions"][-1:])
        third = self.json("predict", "--prompt", PROMPT, "--top", "3")["next"][2]
        last = self.json("lens", "--prompt", PROMPT, "--token", "rank:3", "--position", "-1")["positions"][0]
        self.assertEqual((last["answer"]["id"], last["places"][-1]["rank"]), (third["id"], 3))
        self.fail_with(1, "lens", "--prompt", PROMPT, "--position", "9999", contains="there is no position 9999")

    def test_many_prompts(self):
        file = self.folder / "prompts.jsonl"
        file.write_text(json.dumps(PROMPT) + "\n" + json.dumps({"ids": self.ids[:3]}) + "\n")
        lines = self.succeed("lens", "--prompts", file, "--json").splitlines()
        self.assertEqual(json.loads(lines[0]), self.json("lens", "--prompt", PROMPT))
        self.assertEqual(json.loads(lines[1]), self.json("lens", "--ids", ",".join(map(str, self.ids[:3]))))

    def test_table_for_people(self):
        text = self.succeed("lens", "--prompt", PROMPT).decode()
        self.assertEqual(text.count("after position"), len(self.ids))
        self.assertEqual(text.count("0 mid"), len(self.ids))


class Attribute(Reference):
    def direction(self, position, token, against):
        """The direction whose product with a vector on the stream is its contribution to the logit, with ln_f's scale fixed."""
        unembedding = self.weights["wte.weight"][token] - (self.weights["wte.weight"][against] if against is not None else 0)
        along = unembedding * self.weights["ln_f.weight"] / self.activations["ln_final.hook_scale"][position]
        return along - along.mean(), unembedding

    def check(self, answer, position, token, against):
        along, unembedding = self.direction(position, token, against)
        logits = self.activations["logits"][position]
        logit = logits[token] - (logits[against] if against is not None else 0)
        slack = 1e-4 * max(1, abs(logit))
        near = lambda found, expected: self.assertAlmostEqual(found, float(expected), delta=slack)
        self.assertEqual((answer["position"], answer["token"]["id"]), (position, token))
        near(answer["logit"], logit)
        near(answer["token_embedding"], self.activations["hook_embed"][position] @ along)
        near(answer["position_embedding"], self.activations["hook_pos_embed"][position] @ along)
        near(answer["ln_f_bias"], self.weights["ln_f.bias"] @ unembedding)
        total = answer["token_embedding"] + answer["position_embedding"] + answer["ln_f_bias"]
        for layer, parts in enumerate(answer["layers"]):
            z = self.activations[f"blocks.{layer}.attn.hook_z"][position]
            projection = self.weights[f"h.{layer}.attn.c_proj.weight"].reshape(*z.shape, -1)
            for head, part in enumerate(parts["heads"]):
                near(part, z[head] @ projection[head] @ along)
            near(parts["attention_bias"], self.weights[f"h.{layer}.attn.c_proj.bias"] @ along)
            near(parts["mlp"], self.activations[f"blocks.{layer}.hook_mlp_out"][position] @ along)
            total += sum(parts["heads"]) + parts["attention_bias"] + parts["mlp"]
        self.assertAlmostEqual(answer["sum"], total, delta=1e-9)
        self.assertAlmostEqual(answer["sum"] + answer["rounding_error"], answer["logit"], delta=1e-9)
        self.assertLess(abs(answer["rounding_error"]), 1e-4)

    def test_is_what_the_reference_computes(self):
        last = len(self.ids) - 1
        best = np.argsort(-self.activations["logits"], kind="stable")
        self.check(self.json("attribute", "--prompt", PROMPT), last, int(best[-1][0]), None)
        second = int(best[3][1])
        self.check(self.json("attribute", "--prompt", PROMPT, "--position", "3", "--other-token", f"id:{second}"), 3, int(best[3][0]),
                   second)

    def test_takes_a_token_by_its_text(self):
        token = self.json("tokens", "--prompt", " the")["tokens"]
        self.assertEqual(len(token), 1)
        self.assertEqual(self.json("attribute", "--prompt", PROMPT, "--token", " the"),
                         self.json("attribute", "--prompt", PROMPT, "--token", f"id:{token[0]['id']}"))
        self.fail_with(1, "attribute", "--prompt", PROMPT, "--token", "the the the", contains=["one token", "--token"])
        self.fail_with(1, "attribute", "--prompt", PROMPT, "--against", "id:9999999", contains=["9999999", "--other-token"])
        self.fail_with(1, "attribute", "--prompt", PROMPT, "--position", "9999", contains=["position 9999"])
        self.fail_with(1, "attribute", "--prompt", PROMPT, "--sources", "0.999", contains=["head 999"])

    def test_sources_add_up_to_their_head(self):
        one = self.json("attribute", "--prompt", PROMPT, "--sources", "2.1")
        self.assertEqual(["sources" in layer for layer in one["layers"]],
                         [number == 2 for number in range(CONFIG["n_layer"])])
        every = self.json("attribute", "--prompt", PROMPT, "--sources", "all")
        self.assertEqual(every["layers"][2]["sources"]["1"], one["layers"][2]["sources"]["1"])
        for layer in every["layers"]:
            for head, parts in layer["sources"].items():
                self.assertEqual(len(parts), len(self.ids))
                self.assertAlmostEqual(sum(parts), layer["heads"][int(head)], delta=1e-4)

    def test_many_prompts(self):
        file = self.folder / "prompts.jsonl"
        file.write_text(json.dumps(PROMPT) + "\n" + json.dumps({"ids": self.ids[:3]}) + "\n")
        lines = self.succeed("attribute", "--prompts", file, "--json").splitlines()
        self.assertEqual(json.loads(lines[0]), self.json("attribute", "--prompt", PROMPT))
        self.assertEqual(json.loads(lines[1]), self.json("attribute", "--ids", ",".join(map(str, self.ids[:3]))))

    def test_table_for_people(self):
        text = self.succeed("attribute", "--prompt", PROMPT, "--sources", "0.0").decode()
        for words in ("logit of", "token embedding", "L0 H0", "L0 attention bias", "L0 MLP", "ln_f bias", "rounding error",
                      "by source, L0 H0"):
            self.assertIn(words, text)


class Generate(ProgramCase):
    def test_greedy_is_the_best_token_again_and_again(self):
        ids = [token["id"] for token in self.json("tokens", "--prompt", "Once upon a")["tokens"]]
        expected = b""
        for _ in range(12):
            best = self.json("predict", "--ids", ",".join(map(str, ids)), "--top", "1")["next"][0]
            ids.append(best["id"])
            expected += bytes(best["bytes"])
        greedy = self.succeed("generate", "--prompt", "Once upon a", "--tokens", "12", "--temperature", "0")
        self.assertEqual(greedy, expected)
        self.assertEqual(self.succeed("generate", "--prompt", "Once upon a", "--tokens", "12", "--top-k", "1"), expected)
        self.assertEqual(self.succeed("generate", "--prompt", "Once upon a", "--tokens", "12", "--temperature", "0", "--echo"),
                         b"Once upon a" + expected)

    def test_json_has_the_same_text_and_its_probabilities(self):
        given = ["generate", "--prompt", "Once upon a", "--tokens", "9", "--seed", "4", "--temperature", "0.8"]
        answer = self.json(*given)
        self.assertEqual(answer["text"].encode(), self.succeed(*given))
        self.assertEqual(b"".join(bytes(token["bytes"]) for token in answer["generated"]).decode(), answer["text"])
        self.assertEqual(answer["how"]["sampling"], {"temperature": 0.8, "top_k": 0, "top_p": 1, "seed": 4})
        ids = [token["id"] for token in answer["tokens"]]
        for token in answer["generated"]:
            guesses = self.json("predict", "--ids", ",".join(map(str, ids)), "--top", "9999")["next"]
            (same,) = [guess for guess in guesses if guess["id"] == token["id"]]
            self.assertAlmostEqual(token["probability"], same["probability"], delta=1e-5)
            ids.append(token["id"])
        self.assertEqual(answer["end"], "length")
        self.fail_with(2, *given, "--json", "--echo", contains="--echo is for text")

    def test_a_seed_decides(self):
        def text(seed):
            return self.succeed("generate", "--prompt", PROMPT, "--tokens", "40", "--seed", seed)
        self.assertEqual(text("5"), text("5"))
        self.assertGreater(len({text(str(seed)) for seed in range(6)}), 3)

    def test_ends_where_the_context_is_full(self):
        done = run("generate", "--prompt", PROMPT, "--tokens", "100000", "--temperature", "0.7")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(self.sentence(done.stderr), f"{CONFIG['n_ctx']} tokens is full|ended the text")

    def test_a_text_as_long_as_it_was_asked_for_is_no_news(self):
        full = ",".join(["5"] * CONFIG["n_ctx"])
        self.assertNotEqual(self.succeed("generate", "--ids", full, "--tokens", "1", "--temperature", "0"), b"")

    def test_no_tokens_at_all(self):
        self.assertEqual(self.succeed("generate", "--prompt", PROMPT, "--tokens", "0"), b"")
        self.assertEqual(self.succeed("generate", "--prompt-file", "-", "--tokens", "0", "--echo", stdin=b"\xff"), b"\xff")

    def on_a_terminal(self, *arguments):
        """What a terminal shows for both streams, with the newlines it was sent."""
        master, terminal = self.pseudo_terminal()
        self.addCleanup(os.close, master)
        try:
            subprocess.run([HEADSCOPE, *map(os.fsencode, arguments)], stdout=terminal, stderr=terminal,
                           stdin=subprocess.DEVNULL, timeout=120)
        finally:
            os.close(terminal)
        shown = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # so does Linux say that the other end is closed
                return shown.replace(b"\r\n", b"\n")
            if not part:
                return shown.replace(b"\r\n", b"\n")
            shown += part

    def test_a_line_ends_on_a_terminal_alone(self):
        given = ["generate", "--prompt", "Once upon a", "--tokens", "4", "--temperature", "0"]
        piped = self.succeed(*given)
        self.assertFalse(piped.endswith(b"\n"))
        self.assertEqual(self.on_a_terminal(*given), piped + b"\n")
        nothing = ["generate", "--tokens", "0", "--echo"]
        for prompt, shown in (("a", b"a\n"), ("a\n", b"a\n"), ("", b"")):
            self.assertEqual(self.on_a_terminal(*nothing, "--prompt", prompt), shown)

    def test_a_message_has_a_line_of_its_own_on_a_terminal(self):
        full = ",".join(["5"] * CONFIG["n_ctx"])
        lines = self.on_a_terminal("generate", "--ids", full, "--tokens", "9", "--temperature", "0").split(b"\n")
        self.assertEqual(lines[-1], b"")
        self.assertTrue(lines[-2].startswith(b"headscope: stopped after 1 of 9 tokens"), lines)


class Views(ProgramCase):
    def test_are_named_with_their_options(self):
        views = self.json("views")["views"]
        self.assertTrue({"heatmap", "scores", "query", "positions", "heads", "next"} <= {view["id"] for view in views})
        text = self.succeed("views").decode()
        for view in views:
            self.assertTrue(view["title"])
            self.assertIn(view["name"], text)
            for option in view["options"]:
                self.assertIn("--" + option["flag"], text)


class Help(ProgramCase):
    def test_goes_to_standard_output(self):
        text = self.succeed("--help").decode()
        for command in ("info", "tokens", "predict", "lens", "attribute", "score", "composition", "generate", "trace", "metrics",
                        "search", "views", "plot", "shot"):
            self.assertIn(command, text)
            self.assertIn("--", self.succeed(command, "--help").decode())
        self.assertRegex(self.succeed("--version").decode(), r"\Aheadscope \d+\.\d+\.\d+\n\Z")


if __name__ == "__main__":
    main()
