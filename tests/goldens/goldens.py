#!/usr/bin/python3
"""Every view's numbers and picture against those that are kept here: any change of them is seen, and is either a mistake or meant.

    goldens.py check --program P     the test: tables within 1e-5, pictures within what another processor's rounding moves
    goldens.py make --program P      keeps what P draws from now on; look at `git diff` of numbers.json and at the pictures

numbers.json has each view's table for two models. Of long tables it has the first rows and sums of all columns. pictures/ has each
view in each theme, drawn in DejaVu alone (whose glyphs no distribution changes) and kept with 16 levels a colour.
"""
import argparse
import json
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from array import array
from pathlib import Path

HERE = Path(__file__).resolve().parent
NUMBERS, PICTURES = HERE / "numbers.json", HERE / "pictures"
DEJAVU = Path("/usr/share/fonts/truetype/dejavu")
FONTS = {"Inter-Regular.otf": "DejaVuSans.ttf", "Inter-Medium.otf": "DejaVuSans.ttf", "Inter-SemiBold.otf": "DejaVuSans-Bold.ttf",
         "JetBrainsMono-Regular.ttf": "DejaVuSansMono.ttf"}  # the names that are looked for first
TOLERANCE = 1e-5
ROWS = 20  # of a table
LEVEL, VISIBLE, PIXELS = 16, 40, 3  # a colour's step; the difference of a pixel that counts; how many may have one
TEXT = ["--prompt", "The old king had a dog", "--key", "2"]


def make_small_model(folder):
    """A GPT-2 of random weights with an unusual shape: 2 layers of 3 heads of 7 numbers."""
    layers, width, context, vocabulary = 2, 21, 32, HERE.parent / "model" / "tokenizer_oracle" / "tiny"
    folder.mkdir()
    for file in "vocab.json", "merges.txt":
        shutil.copy(vocabulary / file, folder)
    words = len(json.loads((folder / "vocab.json").read_text()))
    (folder / "config.json").write_text(json.dumps({"model_type": "gpt2", "n_layer": layers, "n_head": 3, "n_embd": width,
                                                    "n_positions": context, "vocab_size": words, "layer_norm_epsilon": 1e-5,
                                                    "activation_function": "gelu_new"}))
    shapes = {"wte.weight": [words, width], "wpe.weight": [context, width], "ln_f.weight": [width], "ln_f.bias": [width]}
    for layer in range(layers):
        for name, rows, columns in (("attn.c_attn", width, 3 * width), ("attn.c_proj", width, width),
                                    ("mlp.c_fc", width, 4 * width), ("mlp.c_proj", 4 * width, width)):
            shapes |= {f"h.{layer}.{name}.weight": [rows, columns], f"h.{layer}.{name}.bias": [columns]}
        for name in "ln_1.weight", "ln_1.bias", "ln_2.weight", "ln_2.bias":
            shapes[f"h.{layer}.{name}"] = [width]
    chance, header, data = random.Random(1), {}, b""
    for name, shape in shapes.items():
        centre = 1 if "ln" in name and name.endswith("weight") else 0
        values = array("f", (centre + chance.random() - 0.5 for _ in range(shape[0] * (shape[1:] or [1])[0])))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * len(values)]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = Path(path).resolve(), folder
        fonts = folder / "data" / "fonts"
        fonts.mkdir(parents=True)
        for name, file in FONTS.items():
            shutil.copy(DEJAVU / file, fonts / name)
        self.environment = {"HOME": str(folder), "XDG_DATA_HOME": str(folder / "data"), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        self.views = [view["id"] for view in json.loads(self.output("views", "--json"))["views"]]

    def output(self, *arguments):
        return subprocess.run([self.path, *arguments], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, check=True).stdout

    def write(self, name, *arguments):
        """Each view's answer in a file of that name, in which {view} becomes its own."""
        for view in self.views:
            self.output(view, *TEXT, *arguments, "--out", name.format(view=view))


def short(answer):
    """Facts, the columns' names and units, the first rows, and the sums of columns, each beside the sum of absolute values."""
    columns = answer["columns"]
    sums = {}
    for name, cells in columns.items():
        values = [cell for cell in cells if isinstance(cell, (int, float))]
        if cells[ROWS:] and values:
            sums[name] = [sum(values), sum(map(abs, values))]
    return {"facts": answer["facts"], "units": answer["units"], "count": max(map(len, columns.values()), default=0),
            "columns": {name: cells[:ROWS] for name, cells in columns.items()}, "sums": sums}


def numbers(program):
    """{model: {view: table}}"""
    make_small_model(program.folder / "small")
    all_tables = {}
    for model, arguments in {"tales": ["--layer", "3", "--head", "1"], "small": ["--model", "small", "--layer", "1", "--head", "2"]}.items():
        out = program.folder / f"tables-{model}"
        out.mkdir()
        program.write(f"{out}/{{view}}.json", *arguments)
        all_tables[model] = {file.stem: short(json.loads(file.read_text())) for file in sorted(out.iterdir())}
    return all_tables


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return (int(value) if value == int(value) else float(f"{value:.7g}")) if isinstance(value, float) else value


def differences(kept, now, where):
    """Where values differ, down to single numbers."""
    if isinstance(kept, dict) and isinstance(now, dict):
        for key in sorted(kept.keys() | now.keys()):
            if key == "sums":
                for name in kept[key].keys() & now[key].keys():
                    (was, size), (is_now, _) = kept[key][name], now[key][name]
                    if abs(was - is_now) > TOLERANCE * max(1, size):
                        yield f"{where}: the sum of {name} was {was} and is {is_now}"
            elif key not in kept or key not in now:
                yield f"{where}: {'no longer' if key in kept else 'newly'} has {key}"
            else:
                yield from differences(kept[key], now[key], f"{where} {key}")
    elif isinstance(kept, list) and isinstance(now, list):
        if len(kept) != len(now):
            yield f"{where}: {len(kept)} entries became {len(now)}"
        for i, (a, b) in enumerate(zip(kept, now)):
            yield from differences(a, b, f"{where}[{i}]")
    elif isinstance(kept, (int, float)) and isinstance(now, (int, float)):
        if not abs(kept - now) <= TOLERANCE * max(1, abs(kept)):
            yield f"{where}: {kept} became {now}"
    elif kept != now:
        yield f"{where}: {kept!r} became {now!r}"


def pixels(png):
    """(width, height, RGB of all pixels) of a PNG as the program writes it: its rows are not filtered."""
    at, packed = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        packed += png[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    width, height = struct.unpack(">II", png[16:24])
    stride, data = 3 * width + 1, zlib.decompress(packed)
    return width, height, b"".join(data[row * stride + 1:(row + 1) * stride] for row in range(height))


def png_of(width, height, data):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + data[row * 3 * width:(row + 1) * 3 * width] for row in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def pictures(program):
    """{file name: PNG}"""
    out = program.folder / "pictures"
    out.mkdir()
    for theme in "light", "dark":
        program.write(f"{out}/{{view}}-{theme}.png", "--layer", "3", "--head", "1", "--size", "420x480", "--scale", "1", "--theme", theme,
                      "--no-caption", "--no-recipe")
    return {file.name: file.read_bytes() for file in sorted(out.iterdir())}


def picture_difference(kept, now):
    """A few words, or None for pictures that look the same."""
    width, height, ours = pixels(kept)
    if (width, height) != pixels(now)[:2]:
        return f"{width}x{height} pixels became {pixels(now)[0]}x{pixels(now)[1]}"
    theirs = pixels(now)[2]
    count = 0
    for row in range(0, len(ours), 3 * width):
        a, b = ours[row:row + 3 * width], theirs[row:row + 3 * width]
        if a != b:
            count += len({i // 3 for i, (x, y) in enumerate(zip(a, b)) if abs(x - y) > VISIBLE})
    return f"{count} pixels differ" if count > PIXELS else None


def check(program, out):
    wrong = list(differences(json.loads(NUMBERS.read_text()), rounded(numbers(program)), ""))
    drawn = pictures(program)
    kept = {file.name: file.read_bytes() for file in sorted(PICTURES.iterdir())}
    for name in sorted(kept.keys() | drawn.keys()):
        if name not in kept or name not in drawn:
            wrong.append(f"{name}: {'no longer drawn' if name in kept else 'not kept yet'}")
        elif said := picture_difference(kept[name], drawn[name]):
            out.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(drawn[name])
            wrong.append(f"{name}: {said}; see {out / name}")
    print("\n".join(wrong[:60]))
    print(f"{len(kept)} pictures, {len(wrong)} differences" + ("; if they are as intended: goldens.py make" if wrong else ""))
    return 1 if wrong else 0


def make(program):
    tables = rounded(numbers(program))
    lines = [f'"{model}": {{\n' + ",\n".join(f'"{view}": {json.dumps(table, ensure_ascii=False, separators=(",", ":"))}'
                                             for view, table in views.items()) + "\n}" for model, views in tables.items()]
    NUMBERS.write_text("{" + ",\n".join(lines) + "}\n")
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir()
    levels = bytes(min(255, (value + LEVEL // 2) // LEVEL * LEVEL) for value in range(256))
    for name, png in pictures(program).items():
        width, height, data = pixels(png)
        (PICTURES / name).write_bytes(png_of(width, height, data.translate(levels)))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("check", "make"))
    parser.add_argument("--program", required=True)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "headscope-goldens", help="for pictures that differ")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="goldens-") as folder:
        program = Program(arguments.program, Path(folder))
        return make(program) if arguments.command == "make" else check(program, arguments.out)


if __name__ == "__main__":
    sys.exit(main())
