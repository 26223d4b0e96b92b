"""Invalid input of every kind: one clear sentence, the right exit status, no standard output, no partial files."""
import json
import os
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

import numpy as np

from program import CONFIG, HEADSCOPE, PROMPT, TALES, ProgramCase, main, only_on_linux, random_model, run  # first: it finds the reference
import gpt2_reference
import safetensors_io


def is_writing(process, folder):
    """Whether the process has an open file in the folder, which may have no name until it is complete."""
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        try:
            if os.readlink(descriptor).startswith(f"{folder}/"):
                return True
        except OSError:
            pass  # closed meanwhile
    return False


class WrongUse(ProgramCase):
    def test_is_exit_status_2(self):
        for arguments in (["dance"], ["predict"], ["predict", "--prompt"], ["predict", "--prompt", "x", "--top", "many"],
                          ["predict", "--prompt", "x", "--ids", "1"], ["plot", "--prompt", "x", "--out", "a.png"],
                          ["plot", "sunburst", "--prompt", "x", "--out", "a.png"],
                          ["plot", "heatmap", "--prompt", "x", "--out", "a.jpg"],
                          ["plot", "heatmap", "--prompt", "x", "--out", "a.png", "--size", "0x0"],
                          ["plot", "positions", "--prompt", "x", "--out", "a.png", "--value-scale", "log"],
                          ["trace", "--prompt", "x"], ["generate", "--prompt", "x", "--temperature", "nan"],
                          ["info", "--precision", "f64"], ["tokens", "--ids", "1,x"], ["views", "extra"], ["--\n"]):
            self.fail_with(2, *arguments, contains="--help")


class WrongModel(ProgramCase):
    def copy(self):
        model = self.folder / "model"
        shutil.rmtree(model, ignore_errors=True)
        shutil.copytree(TALES, model)
        for file in model.iterdir():
            file.chmod(0o644)
        return model

    def refuse(self, model, *contains):
        self.fail_with(1, "predict", "--model", model, "--prompt", "x", contains=contains)
        self.fail_with(1, "info", "--model", model, contains=contains)

    def test_no_folder_and_no_model(self):
        self.refuse(self.folder / "missing", "missing")
        self.refuse(self.folder)
        self.refuse(self.folder / "line\nbreak")
        self.fail_with(2, "predict", "--model", "", "--prompt", "x", contains=("is empty",))
        (self.folder / "file").write_text("x")
        self.refuse(self.folder / "file", "file")

    def test_configurations(self):
        def changed(**changes):
            model = self.copy()
            config = {**json.loads((model / "config.json").read_text()), **changes}
            (model / "config.json").write_text(json.dumps(config))
            return model
        self.refuse(changed(activation_function="swish\n7"), "activation_function")
        self.refuse(changed(n_head=7), "n_head")
        self.refuse(changed(n_embd=-1), "n_embd")
        self.refuse(changed(n_layer=10**12), "n_layer")
        self.refuse(changed(n_layer=CONFIG["n_layer"] + 1), f"h.{CONFIG['n_layer']}.")
        self.refuse(changed(n_embd=2 * CONFIG["n_embd"]), str(CONFIG["n_embd"]))
        self.refuse(changed(vocab_size=1000), "1000")
        self.refuse(changed(model_type="llama"), "llama")
        for text in ("", "{", "[]", "[" * 100000, "\xff"):
            model = self.copy()
            (model / "config.json").write_text(text, encoding="latin-1")
            self.refuse(model, "config.json")

    def test_weights(self):
        whole = (TALES / "model.safetensors").read_bytes()
        (length,) = struct.unpack("<Q", whole[:8])
        header = json.loads(whole[8:8 + length])
        body = whole[8 + length:]

        def packed(changed, data=body):
            text = json.dumps(changed).encode()
            return struct.pack("<Q", len(text)) + text + data

        name = next(name for name in header if name.endswith("c_attn.weight"))
        entry = header[name]
        cases = [
            b"", whole[:5], whole[:8], whole[:100], whole[:-1], whole + b"\0", b"\xff" * 64, struct.pack("<Q", 2**63) + whole[8:],
            struct.pack("<Q", 4) + b"[[[[", struct.pack("<Q", 200000) + b"[" * 200000, b"<html>not found</html>",
            packed({key: value for key, value in header.items() if key != name}),
            packed({**header, name: {**entry, "shape": entry["shape"][::-1]}}),
            packed({**header, name: {**entry, "shape": [2**62, 2**62]}}),
            packed({**header, name: {**entry, "shape": [-1, -49152]}}),
            packed({**header, name: {**entry, "dtype": "F8_E4M3"}}),
            packed({**header, name: {**entry, "data_offsets": [0, 2**63]}}),
            packed({**header, name: {**entry, "data_offsets": [10, 5]}}),
            packed({**header, name: {**entry, "data_offsets": "x"}}),
            packed({**header, name: 5}),
        ]
        for number, case in enumerate(cases):
            with self.subTest(number):
                model = self.copy()
                (model / "model.safetensors").write_bytes(case)
                self.refuse(model, "model.safetensors")

    def test_missing_files(self):
        for name in ("config.json", "model.safetensors", "vocab.json", "merges.txt"):
            model = self.copy()
            (model / name).unlink()
            self.refuse(model)
        model = self.copy()
        (model / "model.safetensors").rename(model / "pytorch_model.bin")
        self.refuse(model, "pytorch_model.bin")

    def test_a_vocabulary_that_does_not_fit(self):
        model = self.copy()
        vocabulary = json.loads((model / "vocab.json").read_text())
        vocabulary["extra"] = 5000
        (model / "vocab.json").write_text(json.dumps(vocabulary))
        self.refuse(model, "5000", str(CONFIG["vocab_size"]))


class NotFinite(ProgramCase):
    """NaN in the query bias of one head; the float64 reference shows where it spreads."""

    def setUp(self):
        super().setUp()
        self.model = random_model(self.folder / "model", layers=2, heads=4, d_model=16, ctx=64)
        self.put("h.1.attn.c_attn.bias", 2 * 4 + 1, np.nan)
        self.given = ["--model", self.model, "--ids", "5,6,7,8,9"]

    def put(self, tensor, at, value):
        file = self.model / "model.safetensors"
        tensors = {name: np.array(values) for name, values in safetensors_io.read(file).items()}
        tensors[tensor][at] = value
        safetensors_io.write(file, [(name, "F32", values.shape, lambda values=values: values)
                                    for name, values in tensors.items()])

    def note(self, done, status=0):
        self.assertEqual(done.returncode, status, done.stderr)
        message = self.sentence(done.stderr)
        self.assertIn("non-finite values, first seen in blocks.1.attn.hook_q, head 2, position 0", message)
        return done.stdout

    def test_goes_where_the_reference_says(self):
        out = self.folder / "trace.safetensors"
        with np.errstate(invalid="ignore"):
            expected = gpt2_reference.run_folder(self.model, [5, 6, 7, 8, 9])
        self.note(run("trace", *self.given, "--out", out, "--hooks", "*,*hook_result*"))
        found = safetensors_io.read(out)
        seen = np.tril(np.ones((5, 5), dtype=bool))
        for name, values in expected.items():
            bad, wanted = np.isnan(found[name]), np.isnan(values)
            if name.endswith("pattern"):  # what is masked is exactly 0, beside NaN too
                self.assertTrue((found[name][:, ~seen] == 0).all(), name)
                bad, wanted = bad & seen, wanted & seen
            np.testing.assert_array_equal(bad.reshape(wanted.shape), wanted, name)

    def test_predict_says_so(self):
        printed = self.note(run("predict", *self.given, "--all-positions"))
        self.assertIn(b"nan%", printed)
        self.assertNotIn(b"-nan", printed)

        def refuse(constant):
            self.fail(f"{constant} is no JSON")

        answer = json.loads(self.note(run("predict", *self.given, "--all-positions", "--json")),
                            parse_constant=refuse)
        self.assertEqual([guess["probability"] for guess in answer["next"]], [None] * len(answer["next"]))
        for position in answer["positions"]:
            self.assertIsNone(position["log_sum_exp"])
            self.assertEqual(position["following"] is None, position["position"] == 4)
            if position["following"]:
                self.assertIsNone(position["following"]["rank"])
                self.assertIsNone(position["following"]["probability"])

    def test_generate_draws_nothing(self):
        done = run("generate", *self.given, "--tokens", "3")
        self.note(done, status=1)
        self.assertIn(b"cannot sample a next token", done.stderr)

    def test_pictures_show_it(self):
        def plot(view, name, *options):
            self.note(run("plot", view, *self.given, *options, "--out", self.folder / name))
            return (self.folder / name).read_text()

        rows = [line.split(",")[2:] for line in plot("heatmap", "a.csv", "--layer", "1", "--head", "2").splitlines()[1:]]
        self.assertEqual(rows, [["nan"] * (i + 1) + [""] * (4 - i) for i in range(5)])
        self.assertNotIn("nan", plot("heatmap", "b.csv", "--layer", "1", "--head", "3"))
        for name, options in (("all.svg", ()), ("follows.svg", ("--query", "2"))):
            text = plot("next", name, "--svg-text", *options)
            self.assertIn("NaN", text)
            self.assertNotIn(">0.0", text)
            self.assertNotIn("guess", text)
        self.assertIn("nan", plot("tokens", "c.csv"))
        for view in ("heads", "query", "scores", "tokens"):
            plot(view, f"{view}.svg", "--layer", "1", "--head", "2")

    def test_logits_alone(self):
        self.put("h.1.attn.c_attn.bias", 2 * 4 + 1, 0)
        self.put("wte.weight", (20, 3), np.nan)  # a token that the prompt does not have
        done = run("predict", *self.given, "--json")
        self.assertEqual(done.returncode, 0)
        self.assertIn("first seen in logits, position 4", self.sentence(done.stderr))
        self.assertEqual({guess["probability"] for guess in json.loads(done.stdout)["next"]}, {None})


class WrongPrompt(ProgramCase):
    def test_too_long(self):
        long = "wood " * 3000
        for command in (["predict"], ["generate"], ["plot", "heatmap", "--out", self.folder / "a.png"],
                        ["trace", "--out", self.folder / "a.safetensors"]):
            self.fail_with(1, *command, "--prompt", long, contains=str(CONFIG["n_ctx"]))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_exactly_the_whole_context_is_not_too_long(self):
        n_ctx = CONFIG["n_ctx"]
        ids = ",".join(["5"] * n_ctx)
        self.assertEqual(len(self.json("predict", "--ids", ids)["tokens"]), n_ctx)
        self.fail_with(1, "predict", "--ids", ids, "--bos", contains=[str(n_ctx + 1), str(n_ctx)])

    def test_ids_outside_the_vocabulary(self):
        for ids in (str(CONFIG["vocab_size"]), "-1", "2147483647", "99999999999999"):
            for command in (["predict"], ["tokens"], ["generate"]):
                self.fail_with(1, *command, "--ids", "3," + ids, contains=ids)

    def test_files_that_cannot_be_read(self):
        self.fail_with(1, "predict", "--prompt-file", self.folder / "missing", contains="missing")
        self.fail_with(1, "predict", "--prompt-file", self.folder)
        self.fail_with(1, "predict", "--prompts", self.folder / "missing", contains="missing")

    def test_a_bad_line_is_named_by_its_number(self):
        file = self.folder / "prompts.jsonl"
        for bad in ("{", "5", "{}", '{"ids": [1, 99999]}', '{"prompt": "a", "ids": [1]}', json.dumps("wood " * 3000)):
            file.write_text('"good"\n\n' + bad + '\n"never reached"\n')
            done = run("predict", "--prompts", file, "--json")
            self.assertEqual(done.returncode, 1)
            self.assertIn("prompts.jsonl:3", self.sentence(done.stderr))
            self.assertEqual(len(done.stdout.splitlines()), 1)  # the answer to the good one


class WrongSelection(ProgramCase):
    def test_names_the_range(self):
        for option, number in (("--layer", str(CONFIG["n_layer"])), ("--head", "99"), ("--query", "2147483647")):
            self.fail_with(1, "plot", "heatmap", "--prompt", "x", "--out", self.folder / "a.png", option, number,
                           contains=[number, option, "the last one is"])
        self.fail_with(1, "trace", "--prompt", "x", "--out", self.folder / "a.safetensors", "--hooks", "blocks.9.*",
                       contains="blocks.9.*")
        self.assertEqual(list(self.folder.iterdir()), [])


class Output(ProgramCase):
    def writers(self, png, safetensors):
        return (["plot", "heatmap", "--prompt", PROMPT, "--out", png], ["trace", "--prompt", PROMPT, "--out", safetensors])

    def test_paths_that_cannot_be_written(self):
        taken = self.folder / "taken.png"
        taken.mkdir()
        for folder in (self.folder / "missing", "/proc", taken / "x"):
            for command in self.writers(f"{folder}/a.png", f"{folder}/a.safetensors"):
                self.fail_with(1, *command, contains="cannot write")
        for command in self.writers(taken, taken):
            self.fail_with(1, *command, contains="cannot write")

    @only_on_linux("/dev/full")
    def test_a_full_disk(self):
        for name in ("full.png", "full.svg", "full.csv", "full.safetensors"):
            (self.folder / name).symlink_to("/dev/full")
        for command in self.writers(self.folder / "full.png", self.folder / "full.safetensors"):
            self.fail_with(1, *command, contains="No space left")
        for arguments in (["predict", "--prompt", "x"], ["tokens", "--prompt", "x", "--json"], ["--help"], ["info"],
                          ["generate", "--prompt", "x"], ["views"]):
            with open("/dev/full", "wb") as full:
                done = run(*arguments, stdout=full)
            self.assertEqual(done.returncode, 1)
            self.assertIn("No space left", self.sentence(done.stderr))

    @only_on_linux("limits of a process's files")
    def test_a_file_size_limit_leaves_nothing(self):
        for command in self.writers(self.folder / "a.png", self.folder / "a.safetensors"):
            limited = ["bash", "-c", 'trap "" XFSZ; ulimit -f 8; exec "$@"', "bash", HEADSCOPE, *map(str, command)]
            done = subprocess.run(limited, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot write", self.sentence(done.stderr))
            self.assertEqual(list(self.folder.iterdir()), [])

    @only_on_linux("streams that are closed when a program starts")
    def test_a_closed_standard_output(self):
        done = subprocess.run(["bash", "-c", '"$0" tokens --prompt x >&-', HEADSCOPE], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", self.sentence(done.stderr))
        out = self.folder / "a.safetensors"
        subprocess.run(["bash", "-c", '"$0" trace --prompt x --hooks logits --out "$1" >&- 2>&-', HEADSCOPE, out], check=True,
                       timeout=60)
        self.assertTrue(out.stat().st_size > 1000)

    def test_a_reader_that_went_away_is_no_message(self):
        process = subprocess.Popen([HEADSCOPE, "predict", "--prompt", PROMPT, "--top", str(CONFIG["vocab_size"]), "--all-positions", "--json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(10)
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        self.assertEqual(process.wait(60), 1)

    @only_on_linux("signals")
    def test_a_signal_leaves_nothing(self):
        model = random_model(self.folder / "model", layers=2, heads=4, d_model=16, ctx=3000)
        out = self.folder / "out"
        out.mkdir()
        ids = ",".join(["7"] * 3000)
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([HEADSCOPE, "trace", "--model", model, "--ids", ids, "--out", out / "a.safetensors"],
                                       stderr=subprocess.PIPE)
            while process.poll() is None and not is_writing(process.pid, out):
                time.sleep(0.001)
            process.send_signal(number)
            self.assertEqual(process.stderr.read(), b"")
            process.stderr.close()
            self.assertEqual(process.wait(60), -number)
            self.assertEqual(list(out.iterdir()), [])


@only_on_linux("programs without a display")
class NoDisplay(ProgramCase):
    def test_is_one_sentence(self):
        environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
        environment["XDG_CONFIG_HOME"] = str(self.folder)
        done = subprocess.run([HEADSCOPE, "--prompt", "x"], capture_output=True, env=environment, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("display", self.sentence(done.stderr))


if __name__ == "__main__":
    main()
