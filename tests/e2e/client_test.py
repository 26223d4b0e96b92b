"""assets/python/headscope.py: the client for notebooks, with the real program."""
import os
import shutil
import signal
import sys
import threading
import unittest
import warnings
from unittest import mock

import numpy as np

from program import CONFIG, HEADSCOPE, PROMPT, ROOT, TALES, ProgramCase, main, only_on_linux, png_size
import safetensors_io

sys.path.insert(0, str(ROOT / "assets" / "python"))
import headscope
from headscope import Figure, Headscope, HeadscopeError, HeadscopeWarning


class ClientCase(ProgramCase):
    def setUp(self):
        super().setUp()
        self.hs = Headscope(program=HEADSCOPE)
        self.addCleanup(self.hs.close)


class Arrays(ClientCase):
    def test_columns_are_arrays(self):
        answer, printed = self.hs.run("predictions", prompt=PROMPT), self.json("predictions", "--prompt", PROMPT)
        columns = answer["columns"]
        self.assertEqual(columns["token"], printed["columns"]["token"])
        np.testing.assert_array_equal(columns["loss"], np.array(printed["columns"]["loss"], float))
        self.assertTrue(np.isnan(columns["loss"][-1]))
        self.assertEqual(answer["facts"]["perplexity"], printed["facts"]["perplexity"])
        self.assertEqual((answer["units"]["loss"], b"".join(self.hs.tokens(PROMPT)["columns"]["bytes"])), ("bits", PROMPT.encode()))
        means = self.hs.sweep(prompts=["one two one", "one two"], mean=True, token=" the", other_token=" a")
        self.assertEqual(means["facts"]["prompts"], 2)
        self.assertEqual(len(means["columns"]["change standard error"]), CONFIG["n_layer"] * CONFIG["n_head"])

    def test_trace_has_the_activations_by_name(self):
        traced = self.hs.trace(PROMPT, hooks=["blocks.0.attn.hook_z", "logits"])
        file = self.folder / "t.safetensors"
        self.succeed("trace", "--prompt", PROMPT, "--hooks", "blocks.0.attn.hook_z,logits", "--out", file)
        expected = safetensors_io.read(file)
        self.assertEqual(sorted(traced), sorted(expected))
        for name, array in expected.items():
            np.testing.assert_array_equal(traced[name], array)
        ids = [int(i) for i in traced["tokens"]]
        patterns = self.hs.patterns(ids)
        self.assertEqual(patterns.shape, (CONFIG["n_layer"], CONFIG["n_head"], len(ids), len(ids)))
        np.testing.assert_allclose(patterns.sum(-1), 1, atol=1e-5)
        self.assertEqual(self.hs.residuals(PROMPT).shape, (CONFIG["n_layer"], len(ids), CONFIG["n_embd"]))
        np.testing.assert_array_equal(self.hs.logits(PROMPT), traced["logits"])
        edited = self.hs.patterns(PROMPT, edit=["L0H1.pattern=0", "L1H0.pattern=0"])
        self.assertEqual((np.abs(edited[0, 1]).max(), np.abs(edited[1, 0]).max()), (0, 0))
        np.testing.assert_array_equal(self.hs.patterns(PROMPT, gradients="logit"), patterns)
        traced["logits"] *= 2  # as an array of one's own

    def test_any_prompt(self):
        for prompt in ("", "x", "e\u0301\U0001f642\x00", b"\xff\xfe\x00 a", "--json", "\u2028"):
            expected = prompt if isinstance(prompt, bytes) else prompt.encode()
            if "\x00" in str(prompt):
                prompt = expected
            if prompt:
                self.assertEqual(b"".join(self.hs.tokens(prompt)["columns"]["bytes"]), expected)
        large = b"\xff" * (5 << 20)  # in a request of 8 MiB
        with self.assertRaisesRegex(HeadscopeError, "prompt"):
            self.hs.predict(large)
        self.assertEqual(len(self.hs.predict(prompts=["one", [1, 2, 3], "three"], count=1)), 3)
        lines = [{"ids": np.array([1, 2, 3]), "token": "id:7", "position": np.int64(1)}, {"ids": [np.int32(4)]}]
        self.assertEqual([answer["facts"]["position"] for answer in self.hs.attribute(prompts=lines)], [1, 0])
        for none in ([], (), np.empty(0)):
            with self.assertRaisesRegex(HeadscopeError, "prompts is empty"):
                self.hs.predict(prompts=none)

    def test_generate_gives_the_text_or_everything(self):
        text = self.hs.generate(PROMPT, tokens=5)
        self.assertEqual(text, self.succeed("generate", "--prompt", PROMPT, "--tokens", "5").decode().removesuffix("\n"))
        everything = self.hs.generate(PROMPT, tokens=5, details=True)
        self.assertEqual((everything["text"], everything["end"], len(everything["generated"])), (text, "length", 5))
        self.assertEqual(b"".join(token["bytes"] for token in everything["generated"]), text.encode())
        self.assertEqual(self.hs.generate(PROMPT, tokens=5, out="-", format="txt").removesuffix("\n"), text)
        self.assertEqual(self.hs.generate(PROMPT, tokens=0), "")


class Figures(ClientCase):
    def test_a_notebook_shows_them(self):
        png = self.hs.plot("heatmap", PROMPT, layer=1)
        data, size = png._repr_png_()
        self.assertEqual(size["width"] * 2, png_size(data)[0])
        self.assertIsNone(png._repr_svg_())
        for width, figure in ((317, self.hs.plot("heatmap", PROMPT, for_="column")),  # 3.3 inches
                              (1280, self.hs.plot("heatmap", PROMPT, for_="slide")), (1600, self.hs.shot(PROMPT)),
                              (800, self.hs.run("lens", prompt=PROMPT, size=800, scale=3, out="-", format="png"))):
            self.assertEqual(figure._repr_png_()[1], {"width": width})
        self.assertEqual(Figure(data.replace(b"pHYs", b"pHYx"), "png")._repr_png_()[:8], data[:8])
        svg = self.hs.plot("heatmap", PROMPT, format="svg", layer=1)
        self.assertIn("<svg", svg._repr_svg_())
        self.assertIsNone(svg._repr_png_())
        svg.save(self.folder / "x.svg")
        self.assertEqual((self.folder / "x.svg").read_bytes(),
                         self.succeed("heatmap", "--prompt", PROMPT, "--layer", "1", "--out", "-", "--format", "svg"))
        self.assertIn(",", self.hs.plot("heatmap", PROMPT, format="csv"))
        self.assertIn("pdf", repr(self.hs.plot("lens", PROMPT, format="pdf")))


class Failures(ClientCase):
    def test_are_the_programs_sentences(self):
        for status, call in ((2, lambda: self.hs.run("nothing")), (2, lambda: self.hs.predict()), (2, lambda: self.hs.predict("x", count="y")),
                             (1, lambda: self.hs.predict("x", model="/nowhere")), (2, lambda: self.hs.predict("x", nonsense=1)),
                             (1, lambda: self.hs.predict("x", edit="L99H0.z=0")), (2, lambda: self.hs.tokens("a\x00b"))):
            with self.assertRaises(HeadscopeError) as caught:
                call()
            self.assertEqual(caught.exception.status, status)
            self.assertRegex(str(caught.exception), r"\A[^\n]{10,}\Z")
        self.assertEqual(self.hs.tokens("x")["columns"]["token"], ["x"])

    def test_notes_are_warnings(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")  # once for each line that they are about
            for _ in range(2):
                self.hs.predict("x", edit="L0H0.z[50]=0")
            self.hs.patterns("x", edit="L0H0.z[50]=0")
            self.hs.run("predict", prompt="x", edit="L0H0.z[50]=0")
        self.assertEqual([(warning.category, warning.filename) for warning in caught], [(HeadscopeWarning, __file__)] * 3)
        self.assertRegex(str(caught[0].message), "has no effect")

    def test_a_request_that_cannot_be_read_leaves_the_program_running(self):
        self.hs.tokens("x")
        process = self.hs._process
        with self.assertRaisesRegex(HeadscopeError, "^the request: ") as caught:
            self.hs.predict("\ud800")
        self.assertEqual(caught.exception.status, 2)
        with self.assertRaisesRegex(ValueError, "finite numbers"):
            self.hs.predict(prompts=[np.array([1, np.inf])])
        self.assertEqual(self.hs.tokens("a b")["columns"]["token"][0], "a")
        self.assertIs(self.hs._process, process)

    def test_a_program_that_dies_is_said_and_started_again(self):
        self.hs.tokens("x")
        self.hs._process.kill()
        self.hs._process.wait()
        self.assertEqual(self.hs.tokens("x")["columns"]["token"], ["x"])
        done = threading.Event()

        def kill():  # until it happens in a call: a program that was killed between two is started again
            while not done.wait(0.1):
                process = self.hs._process
                if process is not None:
                    process.kill()
        killer = threading.Thread(target=kill)
        killer.start()
        with self.assertRaisesRegex(HeadscopeError, "has ended"):
            while True:
                self.hs.sweep(PROMPT * 2)
        done.set()
        killer.join()
        self.assertEqual(self.hs.tokens("x")["columns"]["token"], ["x"])

    def test_a_program_that_is_none(self):
        with self.assertRaisesRegex(HeadscopeError, "cannot start /nowhere/headscope"):
            Headscope(program="/nowhere/headscope").tokens("x")
        with self.assertRaisesRegex(HeadscopeError, "has ended"):
            Headscope(program=sys.executable).tokens("x")

    @only_on_linux("a script as the program")
    def test_a_program_that_answers_garbage(self):
        script = self.folder / "garbage"
        for answer in ("", "[]", "nan", "[" * 100000, '{"id": 1}', '{"id": 1, "status": 0, "messages": 7}', '{"id": 9, "status": 0}',
                       '{"id": 1, "status": 0, "messages": [], "base64": "x"}', '{"id": 1, "messages": [], "error": ""}',
                       '{"id": 1, "status": 0, "messages": [], "text": "[1"}'):
            script.write_text(f"#!{sys.executable}\nimport sys\nfor line in sys.stdin.buffer:\n    print({answer!r}, flush=True)\n")
            script.chmod(0o755)
            for call in (Headscope.predict, Headscope.trace):
                with Headscope(program=script) as hs, self.assertRaisesRegex(HeadscopeError, "does not answer as headscope does"):
                    call(hs, "x")

    @only_on_linux("signals")
    def test_an_interrupted_call_does_not_disturb_the_next(self):
        self.hs.tokens("x")
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            while True:
                self.hs.trace(PROMPT * 4)
        self.assertEqual(self.hs.tokens("a b")["columns"]["token"][0], "a")


class Process(ClientCase):
    def test_is_one_for_all_calls_and_ends_with_the_block(self):
        with Headscope(model=TALES, precision="bf16", threads=1, memory=100, program=HEADSCOPE) as hs:
            self.assertEqual(hs.info()["name"], "tales")
            process = hs._process
            hs.predict("x"), hs.tokens("x"), hs.plot("heads", "x")
            self.assertIs(hs._process, process)
        self.assertEqual(process.returncode, 0)
        hs.close()
        self.assertEqual(hs.tokens("x")["columns"]["token"], ["x"])
        hs.close()

    def test_options_of_all_calls_are_those_of_the_calls_that_take_them(self):
        attention, figure = self.folder / "attention.safetensors", self.folder / "figure.png"
        self.succeed("trace", "--prompt", PROMPT, "--hooks", "*hook_pattern", "--out", attention)
        copy = shutil.copytree(TALES, self.folder / "copy")
        with Headscope(copy, precision="bf16", threads=1, program=HEADSCOPE) as hs:
            def made(answer):
                return answer["how"]["model"], answer["how"].get("precision")
            self.assertEqual(made(hs.run("search", prompt="a b a b")), ("copy", "bf16"))
            self.assertEqual(made(hs.run("search", "--model", os.fspath(TALES), "--precision=f16", prompt="a")), ("tales", "f16"))
            self.assertEqual(made(hs.run("search", prompts=["a"], model=TALES, precision=None)[0]), ("tales", "bf16"))
            self.assertEqual(hs.run("info")["name"], "copy")
            self.assertIn("views", hs.run("views"))
            self.assertIn("weight", hs.run("search", attention=attention)["columns"])
            hs.plot("heatmap", "a b", precision="f16").save(figure)
            recipe = hs.run("info", figure)
            self.assertEqual(recipe, self.hs.run("info", figure))
            again = hs.plot("heatmap", recipe=figure, model=copy)
            again.save(self.folder / "again.png")
            self.assertEqual(hs.run("info", self.folder / "again.png"), recipe)
            with self.assertRaisesRegex(HeadscopeError, "unknown command"):
                hs.run("nothing")
        with Headscope("/nowhere", program=HEADSCOPE) as hs, self.assertRaisesRegex(HeadscopeError, "/nowhere"):
            hs.run("search", prompt="a")

    def test_is_found_beside_the_file(self):
        root = self.folder.resolve()

        def program(place, when=0, mode=0o755):
            file = root / place / "headscope"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
            file.chmod(mode)
            os.utime(file, (when, when))
            return str(file)

        def found(place):
            with mock.patch.object(headscope, "__file__", str(root / place / "headscope.py")):
                return headscope._program()

        with mock.patch.dict(os.environ, PATH=str(root / "path")):
            os.environ.pop("HEADSCOPE", None)
            program("prefix/bin", mode=0o644)  # no program
            for place in ("a/b/c", "prefix/share/headscope/python", "tree/assets/python"):
                with self.assertRaisesRegex(HeadscopeError, "was not found"):
                    found(place)
            on_path = program("path")
            self.assertEqual(found("a/b/c"), on_path)
            program("tree/build/ci/app", when=1)
            newest = program("tree/build/release/app", when=2)
            self.assertEqual(found("tree/assets/python"), newest)
            installed = program("other/bin")
            self.assertEqual(found("other/share/headscope/python"), installed)
            os.environ["HEADSCOPE"] = "/named"
            self.assertEqual(found("other/share/headscope/python"), "/named")


if __name__ == "__main__":
    main()
