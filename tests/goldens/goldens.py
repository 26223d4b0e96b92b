#!/usr/bin/python3
"""Every view's picture against the one that is kept here: any change is seen, and is either a mistake or meant.

    goldens.py check --program P     the test: within what another processor's rounding moves
    goldens.py make --program P      keeps what P draws from now on; look at the pictures that `git diff` names

pictures/ has each view in each theme, drawn in DejaVu alone (whose glyphs no distribution changes) and kept with 16 levels a colour.
"""
import argparse
import json
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
PICTURES = HERE / "pictures"
DEJAVU = Path("/usr/share/fonts/truetype/dejavu")
FONTS = {"Inter-Regular.otf": "DejaVuSans.ttf", "Inter-Medium.otf": "DejaVuSans.ttf", "Inter-SemiBold.otf": "DejaVuSans-Bold.ttf",
         "JetBrainsMono-Regular.ttf": "DejaVuSansMono.ttf"}  # the names that are looked for first
LEVEL, VISIBLE, PIXELS = 16, 40, 3  # a colour's step; the difference of a pixel that counts; how many may have one
TEXT = ["--prompt", "The old king had a dog", "--key", "2", "--layer", "3", "--head", "1"]


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
        for view in program.views:
            program.output(view, *TEXT, "--out", f"{out}/{view}-{theme}.png", "--size", "420x480", "--scale", "1", "--theme", theme,
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
    wrong = []
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
