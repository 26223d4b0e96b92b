"""trace, plot, shot: the files they write."""
import csv
import io
import json
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

import numpy as np

from program import CONFIG, HEADSCOPE, PROMPT, ROOT, TALES, ProgramCase, main, only_on_linux, pixels_of, png_size, random_model, run  # first: it finds the reference
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


class Plot(ProgramCase):
    @classmethod
    def setUpClass(cls):
        cls.views = [view["name"] for view in json.loads(run("views", "--json").stdout)["views"]]

    def plot(self, view, name, *arguments, prompt=PROMPT):
        out = self.folder / name
        self.succeed("plot", view, "--prompt", prompt, "--out", out, *arguments)
        return out.read_bytes()

    def test_every_view_in_every_format(self):
        for view in self.views:
            with self.subTest(view):
                png = self.plot(view, "a.png", "--size", "840x1800", "--scale", "1.5")
                self.assertEqual(png_size(png), (1260, 2700))
                sized = xml.fromstring(self.plot(view, "a.svg", "--size", "840x1800"))
                self.assertEqual((sized.get("width"), sized.get("height")), ("840", "1800"))
                svg = xml.fromstring(self.plot(view, "a.svg", "--svg-text"))
                self.assertTrue(svg.tag.endswith("svg"))
                self.assertIn("tales", "".join(svg.itertext()))  # the caption
                rows = list(csv.reader(io.StringIO(self.plot(view, "a.csv").decode("utf-8", "strict"), newline="")))
                self.assertGreater(len(rows), 1)
                self.assertEqual({len(row) for row in rows}, {len(rows[0])})

    def test_a_caption_takes_no_room_from_a_size(self):
        png = self.plot("heatmap", "a.png", "--size", "840x1800", "--scale", "1.5", "--no-caption")
        self.assertEqual(png_size(png), (1260, 2700))

    def plot_many(self, view, name, prompts, *arguments):
        """The figures of several prompts, by one process."""
        lines = "".join(json.dumps(prompt) + "\n" for prompt in prompts)
        self.succeed("plot", view, "--prompts", "-", "--out", self.folder / ("{n}-" + name), *arguments, stdin=lines.encode())
        return [(self.folder / f"{n}-{name}").read_bytes() for n in range(1, len(prompts) + 1)]

    def test_the_same_bytes_every_time(self):
        for view in self.views:
            for name in ("a.png", "a.svg"):
                once, twice = self.plot_many(view, name, [PROMPT, PROMPT])
                self.assertEqual(once, twice, view)
        for name in ("a.png", "a.svg"):
            self.assertEqual(self.plot("heatmap", name), self.plot("heatmap", name))

    def test_any_prompt_whatever(self):
        prompts = ["", "\u4e16\u754c \U0001f642 e\u0301 \u05d0", "\n\t\x01\x1b[31m", "<&>\"']]>", "wood " * 120]
        for view in self.views:
            for svg in self.plot_many(view, "a.svg", prompts, "--svg-text"):
                xml.fromstring(svg)
            self.succeed("plot", view, "--prompt-file", "-", "--svg-text", "--out", self.folder / "b.svg", stdin=b"\xff\xfe\xe2\x82")
            xml.fromstring((self.folder / "b.svg").read_bytes())

    def test_the_numbers_are_the_patterns(self):
        rows = list(csv.reader(io.StringIO(self.plot("heatmap", "a.csv", "--layer", "2", "--head", "1").decode())))
        ids = [token["id"] for token in self.json("tokens", "--prompt", PROMPT)["tokens"]]
        pattern = gpt2_reference.run_folder(TALES, ids)["blocks.2.attn.hook_pattern"][1]
        self.assertEqual(len(rows) - 1, len(ids))
        for query, row in enumerate(rows[1:]):
            weights = [float(cell) for cell in row[2:] if cell]
            self.assertEqual(len(weights), query + 1)
            np.testing.assert_allclose(weights, pattern[query][:query + 1], atol=1e-5)

    def test_what_is_chosen_makes_the_picture(self):
        plain = self.plot("heatmap", "a.svg")
        for change in (["--layer", "1"], ["--head", "1"], ["--query", "3"], ["--theme", "dark"], ["--font-size", "18"],
                       ["--value-scale", "log"], ["--no-caption"], ["--size", "800x600"], ["--svg-text"]):
            self.assertNotEqual(self.plot("heatmap", "a.svg", *change), plain, change)

    def test_a_whole_context_can_be_drawn(self):
        for view in self.views:
            self.plot(view, "a.png", "--scale", "1", prompt="wood " * 100)

    def test_a_picture_without_a_size_is_never_too_high(self):
        model = random_model(self.folder / "model", layers=1, heads=1, d_model=8, ctx=1000)
        out = self.folder / "query.png"
        self.succeed("plot", "query", "--model", model, "--ids", ",".join(["7"] * 1000), "--scale", "1", "--out", out)
        self.assertLessEqual(png_size(out.read_bytes())[1], 4200)  # with the caption

    def test_fit_is_cut_to_the_figure(self):
        default = png_size(self.plot("heatmap", "a.png", "--scale", "1"))
        self.assertEqual(png_size(self.plot("heatmap", "a.png", "--scale", "1", "--size", "fit")), default)
        self.assertLess(default[0], 850)
        self.assertEqual(png_size(self.plot("heatmap", "a.png", "--scale", "2")), (2 * default[0], 2 * default[1]))

    def test_too_small_is_refused_with_the_least_size(self):
        for view, name in [(view, "a.svg") for view in self.views] + [("heatmap", "a.png")]:
            arguments = ["plot", view, "--prompt", PROMPT, "--out", self.folder / name]
            message = self.fail_with(1, *arguments, "--size", "100x80", contains=["the view " + view, "100x80"])
            least = re.search(r"needs at least (\d+x\d+)", message).group(1)
            self.succeed(*arguments, "--size", least)

    def test_many_prompts_make_many_files(self):
        self.succeed("plot", "heatmap", "--prompts", "-", "--out", self.folder / "{n}.svg", stdin=b'"one"\n"two"\n')
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["1.svg", "2.svg"])
        self.assertEqual((self.folder / "2.svg").read_bytes(), self.plot("heatmap", "two.svg", prompt="two"))

    @only_on_linux("symbolic links, which Wine 8 lacks")
    def test_replaces_a_file_and_keeps_a_link(self):
        (self.folder / "real.svg").write_text("old")
        (self.folder / "link.svg").symlink_to("real.svg")
        self.plot("heatmap", "link.svg")
        self.assertTrue((self.folder / "link.svg").is_symlink())
        self.assertIn(b"<svg", (self.folder / "real.svg").read_bytes()[:400])


class Shot(ProgramCase):
    def shot(self, *arguments, size="800x560"):
        out = self.folder / "shot.png"
        self.succeed("shot", "--prompt", PROMPT, "--size", size, *arguments, "--out", out)
        return pixels_of(out.read_bytes())

    def test_the_whole_window(self):
        window = self.shot()
        self.assertEqual(window.shape[:2], (560, 800))
        self.assertGreater(len(np.unique(window.reshape(-1, window.shape[-1]), axis=0)), 200, "texts and maps")
        # Another head changes its own pane and the frames about chosen heads, not the prompt, the bars or the border.
        changed = (self.shot("--layer", "2", "--head", "1") != window).any(axis=-1)
        self.assertGreater(changed[:, 230:560].mean(), 0.02)
        self.assertFalse(changed[:40].any())
        self.assertFalse(changed[250:500, 600:].any())
        # Another theme turns light into dark.
        dark = self.shot("--theme", "dark")
        self.assertGreater(window.mean(), 200)
        self.assertLess(dark.mean(), 80)

    def test_a_prompt_beyond_the_context_is_said(self):
        n_ctx = CONFIG["n_ctx"]
        done = run("shot", "--ids", ",".join(["5"] * (n_ctx + 3)), "--size", "800x560", "--out", self.folder / "a.png")
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assertRegex(self.sentence(done.stderr), f"the prompt has {n_ctx + 3:,} tokens, but tales takes at most {n_ctx:,} ")
        self.assertEqual(png_size((self.folder / "a.png").read_bytes()), (800, 560))
        self.succeed("shot", "--ids", ",".join(["5"] * n_ctx), "--size", "800x560", "--out", self.folder / "a.png")

    def test_below_the_least_size_is_refused(self):
        for size in ("300x200", "799x560", "800x559"):
            self.fail_with(1, "shot", "--prompt", PROMPT, "--size", size, "--out", self.folder / "w.png",
                           contains=["800x560", size])
        self.fail_with(1, "shot", "--prompt", PROMPT, "--size", "800x560", "--font-size", "20", "--out", self.folder / "w.png",
                       contains="1143x800")


if __name__ == "__main__":
    main()
