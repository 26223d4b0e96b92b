"""The cases of goldens.py: which runs of the program there are, and the files that they read.

Cases come from `headscope views --json` (each view at its defaults and with each option at other values) and from commands.txt.
"""
import dataclasses
import itertools
import json
import re
import shlex
import shutil
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TALES = ROOT / "assets" / "models" / "tales"
DEMO = ROOT.parent / "shared" / "demo-model"  # of another shape, beside the repository; only the full set needs it
SMALL, LARGE = "420x360", "1200x800"
COMPUTING = {"predict", "lens", "attribute", "score", "composition", "saliency", "circuit", "sweep", "generate", "trace", "metrics", "search", "plot", "shot"}  # take --threads
QUICK_FILES = ("large.svg", "numbers.csv")  # of each view and option
QUICK_GROUPS = ("json", "text", "trace", "files", "session", "errors")
SHAPE = ["--shape-cells", "2.1,3.2,4.3"]
SECOND = ["--second", "The old king had a little dog, and the dog", "--align", "token"]
LIST = ["--over", "list.txt"]
# Values of options that are neither words nor numbers, and further values of numbers.
SAMPLES = {
    "shape-cells": ["2.1,3.2,4.3"], "zoom": ["2:9,1:7"], "value-max": ["0.5"], "line-heads": ["0.0,3.1,2.2"],
    "dimensions": ["0,5,9"], "encoding-zoom": ["0:20,0:30"], "from-positions": ["0,7,30"], "cosine-zoom": ["0:40,10:60"],
    "coordinates": ["0,1,2"], "metric-least": ["0.2"], "threshold": ["0.3"], "temperature": ["0.7"], "top-k": ["5"],
    "top-p": ["0.6"], "seed": ["7"], "sweep-id": ["50"], "sweep-other-id": ["60"], "turn": ["75"], "heads-scroll": ["1"],
    "senders": ["2.3,1.6"],
}
SCROLLING = re.compile("^first-|^tree-|scroll|zoom")  # what figures have no use for: they show everything
# What an option needs beside it to show anything: (view, option), the option wherever it is, or one of its values.
COMPANIONS = {
    ("search", "search-for"): SHAPE,
    ("search", "shape-cells"): ["--search-for", "shape", "--search-above", "0.05"],
    ("search", "shape-anywhere"): ["--search-for", "shape", "--search-above", "0.05", *SHAPE],
    ("search", "search-text"): LIST, ("plane", "plane-text"): LIST, ("metrics", "metrics-text"): LIST,
    ("search", "first-found"): ["--search-from", "any", "--search-above", "0.1"],
    ("search", "chosen-found"): ["--search-from", "any", "--search-above", "0.1"],
    "sweep-receiver": ["--sweep-over", "senders"],
    "sweep-receiver-layer": ["--sweep-over", "senders", "--sweep-receiver", "k"],
    "sweep-receiver-head": ["--sweep-over", "senders", "--sweep-receiver", "k"],
    "sweep-site": ["--sweep-over", "layer-position"], "sweep-site=pattern": [], "sweep-change": SECOND,
    "sweep-neurons": ["--sweep-over", "neurons"],
    "saliency-other-rank": ["--saliency-metric", "difference"], "saliency-other-id": ["--saliency-metric", "difference"],
    "saliency-baseline": ["--saliency-method", "integrated"], "saliency-steps": ["--saliency-method", "integrated"],
    "heads-scroll": ["--heads-zoom", "4"], "heads-scroll-x": ["--heads-zoom", "4"],
}
# Options that have no effect with the first other value of the view's others, and are refused then.
APART = {
    "search-from", "search-to", "saliency-baseline", "saliency-steps", "circuit-other-rank", "circuit-other-id", "circuit-steps",
    "flow-minus-mean", "sweep-other-rank", "sweep-other-id", "sweep-receiver", "sweep-receiver-layer", "sweep-receiver-head",
    "sweep-neurons",
}
GIRL = ["--prompt-file", "girl.txt"]
EDITS = ["--edit", "L1H1.z=0", "--edit", "L3.pattern[6,2]~=0.5", "--edit", "L2.mlp_out[3-5]*=0.5"]
AT = ["--layer", "3", "--head", "1", "--key", "2"]
# Every view in other circumstances: name -> the files, and the arguments.
CIRCUMSTANCES = {
    "plain": (["svg"], GIRL),
    "dark": (["png"], [*GIRL, *AT, "--theme", "dark", "--scale", "2", "--size", SMALL]),
    "dark-large-letters": (["svg"], [*GIRL, *AT, "--theme", "dark", "--font-size", "19", "--no-caption"]),
    "pdf": (["pdf"], [*GIRL, *AT]),
    "selected": (["svg"], [*GIRL, "--layer", "2", "--head", "3", "--query", "6", "--key", "1"]),
    "edits": (["svg"], [*GIRL, *AT, *EDITS]),
    "edits-baseline": (["svg"], [*GIRL, *AT, *EDITS, "--show", "other"]),
    "edits-difference": (["svg", "csv"], [*GIRL, *AT, *EDITS, "--show", "difference"]),
    "second": (["svg"], [*GIRL, *AT, *SECOND, "--show", "other"]),
    "second-difference": (["svg", "csv"], [*GIRL, *AT, *SECOND, "--show", "difference"]),
    "second-model": (["svg"], [*GIRL, *AT, "--second-model", "second", "--show", "difference"]),
    "attention": (["svg", "csv"], ["--attention", "attention.safetensors", *AT]),
    "attention-difference": (["svg"], ["--attention", "attention.safetensors", "--second-attention",
                                       "attention-2.safetensors", *AT, "--show", "difference"]),
    "long": (["svg", "csv"], ["--prompt-file", "long.txt", "--layer", "3", "--head", "1", "--key", "20"]),
    "bytes": (["svg"], ["--prompt-file", "bytes.txt", "--bos", *AT]),
    "empty-f16": (["svg"], ["--prompt", "", "--precision", "f16"]),
}


@dataclasses.dataclass
class Case:
    name: str
    steps: list  # of arguments


def variations(view):
    """Names and arguments of a view's defaults, and of each option at each of its words or at its ends and in between."""
    yield "defaults", []
    for option in view["options"]:
        name, words = option["name"], option["values"].split("|")
        values = [word for word in words if word == word.lower() and ":" not in word]
        if "least" in option:
            least = 0 if "none" in words else option["least"]
            values += [f"{end:.15g}" for end in (least, option["most"])]
            if name.startswith("first-") and name not in SAMPLES:
                values.append("3")
        values += SAMPLES.get(name, [])
        companions = COMPANIONS.get((view["id"], name), COMPANIONS.get(name, []))
        for value in dict.fromkeys(values):
            if value != option["default"]:
                yield f"{name}={value}", ["--" + name, value, *COMPANIONS.get(f"{name}={value}", companions)]


def view_cases(views, folder, files, more):
    for view in views:
        for name, options in variations(view):
            plot = ["plot", view["id"], *GIRL, "--key", "2", *more, *options]
            arguments = {"small.svg": ["--size", SMALL], "large.svg": ["--size", LARGE, "--svg-text"],
                         "small.png": ["--size", SMALL], "large.png": ["--size", LARGE], "numbers.csv": []}
            yield Case(f"{folder}/{view['id']}/{name}",
                       [[*plot, *arguments[file], "--no-recipe", "--out", file] for file in files])


def recipe_cases(views):
    """Figures that are read back: each view at its defaults, and with all of its options at another value."""
    for view in views:
        chosen = {name.partition("=")[0]: arguments[:2] for name, arguments in reversed(list(variations(view)))
                  if LIST[0] not in arguments and name.partition("=")[0] not in APART}
        for name, options in {"defaults": [], "options": list(itertools.chain(*chosen.values()))}.items():
            yield Case(f"recipe/{view['id']}/{name}", [
                ["plot", view["id"], *GIRL, *AT, *EDITS, *SECOND, *options, "--out", "figure.svg"],
                ["info", "figure.svg", "--json"], ["cp", "figure.svg", "old.svg"],
                ["plot", "--recipe", "old.svg", "--out", "again.svg"]])


def window_cases(views, tours):
    for view in views:
        has_own_place = view["id"] in ("heads", "tokens", "next")  # outside the tabs; there with any tab
        tab = [] if has_own_place else ["--view", view["id"]]
        shot = ["shot", *tab, *GIRL, *AT, "--no-recipe", "--out", "window.png"]
        for size, theme in itertools.product(("1600x1000", "1024x700") if tab else (), ("light", "dark")):
            yield Case(f"window/{view['id']}/{size}-{theme}", [[*shot, "--size", size, "--theme", theme]])
        for name, options in variations(view):
            if SCROLLING.search(name):
                yield Case(f"window/{view['id']}/{name}", [[*shot, *options, "--size", "900x600"]])
    for tour in tours:
        for stop in range(1, 1 + len(re.findall(r"^## ", tour.read_text(), re.MULTILINE))):
            yield Case(f"tour/{tour.stem}/{stop}", [
                ["shot", "--tour", tour.stem, "--stop", str(stop), "--size", "1200x800", "--no-recipe", "--out", "window.png"]])


def word_cases(program, views):
    """What the program says about itself."""
    commands = re.findall(r"^  ([a-z]+)  ", program.output("--help").partition("Commands:")[2], re.MULTILINE)
    runs = [["--help"], *([command, "--help"] for command in commands), *(["plot", view["id"], "--help"] for view in views),
            ["manual"], *(["completion", shell] for shell in ("bash", "zsh", "fish")), ["views"], ["views", "--json"]]
    for run in runs:
        yield Case("words/" + "-".join(run).replace("---", "-"), [run])


def command_cases(quick):
    """The cases of commands.txt."""
    for line in (HERE / "commands.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, _, commands = line.partition(": ")
        words = shlex.split(commands)
        steps = [list(step) for end, step in itertools.groupby(words, lambda word: word == "&&") if not end]
        if quick and (not name.startswith(QUICK_GROUPS) or "demo" in words):
            continue
        yield Case(name, steps)
        if name.startswith("json/"):
            kept = {i for i, step in enumerate(steps) if ">" in step}  # later steps read their JSON
            yield Case(name.replace("json", "text", 1),
                       [step if i in kept else [w for w in step if w != "--json"] for i, step in enumerate(steps)])
            if not quick and not {"--second-model", "--merge", "--attention"} & set(words) and "session" not in name:
                yield Case("demo-" + name, [[*step, "--model", "demo"] for step in steps])


def all_cases(program, views, quick):
    yield from view_cases(views, "views", QUICK_FILES if quick else
                          ("large.svg", "small.svg", "large.png", "small.png", "numbers.csv"), ["--layer", "3", "--head", "1"])
    yield from command_cases(quick)
    if quick:
        return
    if DEMO.is_dir():
        yield from view_cases(views, "demo-views", ("large.svg", "small.png", "numbers.csv"),
                              ["--layer", "1", "--head", "2", "--model", "demo"])
    else:
        print(f"{DEMO} is not there: its cases are left out", file=sys.stderr)
    for name, (suffixes, arguments) in CIRCUMSTANCES.items():
        for view in views:
            yield Case(f"{name}/{view['id']}", [["plot", view["id"], *arguments, "--no-recipe", "--out", f"figure.{suffix}"]
                                                for suffix in suffixes])
    yield from recipe_cases(views)
    yield from window_cases(views, sorted(program.bundled.parents[1].glob("tours/*.md")))
    yield from word_cases(program, views)


# What they read

def altered_model(folder):
    """A second model of the bundled one's shape: that model, but with block 3's attention in block 2 as well."""
    folder.mkdir()
    for file in TALES.iterdir():
        if file.name in ("config.json", "vocab.json", "merges.txt"):
            shutil.copy(file, folder)
    weights = bytearray((TALES / "model.safetensors").read_bytes())
    start = 8 + struct.unpack("<Q", weights[:8])[0]
    tensors = json.loads(weights[8:start])
    prefix = "transformer." if "transformer.h.2.attn.c_attn.weight" in tensors else ""
    (a, b), (c, d) = (tensors[f"{prefix}h.{i}.attn.c_attn.weight"]["data_offsets"] for i in (2, 3))
    weights[start + a:start + b] = weights[start + c:start + d]
    (folder / "model.safetensors").write_bytes(weights)


def make_inputs(folder, output):
    """Writes the files that cases read; `output` runs the program."""
    def write(name, data):
        (folder / name).write_bytes(data)

    write("girl.txt", b"Once upon a time there was a little girl, and the little girl")
    write("bytes.txt", "na\u00efve \u4e16\u754c \U0001f642 \u05d0\u05d1\n\tx <|endoftext|> y".encode() + b"\xff\xfe end")
    excerpt = (ROOT / "tests" / "data" / "tales_excerpt.txt").read_bytes()
    write("excerpt.txt", excerpt)  # more tokens than the context has
    write("long.txt", excerpt[:880])
    shutil.copy(ROOT / "tests" / "data" / "session-1.headscope", folder)
    prompts = ["The cat sat on the mat. The cat sat", "Once there was a king who had three sons", "A robot must obey"]
    write("list.txt", "\n".join(prompts).encode() + b"\n")
    write("list.jsonl", "".join(json.dumps({"prompt": p}) + "\n" for p in prompts).encode() + b'{"ids": [464, 379, 12]}\n')
    write("faulty.jsonl", b'"The cat sat"\n{"ids": [999999]}\n"The dog ran"\n')
    write("edits.json", json.dumps([
        {"site": "blocks.1.attn.hook_z", "head": 1, "positions": [3, 4], "set": 0},
        {"site": "blocks.3.attn.hook_pattern", "head": 0, "cells": [[8, 3, 0.5]], "renormalise": True},
        {"position_ids": [0, 0, -1]}]).encode())
    altered_model(folder / "second")
    if DEMO.is_dir():
        (folder / "demo").symlink_to(DEMO)
    for name, prompt in ("attention", GIRL), ("attention-2", ["--prompt", "The old king had a little dog, and the dog"]):
        output("trace", *prompt, "--hooks", "*.hook_pattern", "--out", name + ".safetensors", cwd=folder)
