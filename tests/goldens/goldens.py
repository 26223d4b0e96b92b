#!/usr/bin/python3
"""Every view's picture against the one that is kept here: any change is seen, and is either a mistake or meant.

    goldens.py check --program P     the test: within what another processor's rounding moves
    goldens.py make --program P      keeps what P draws from now on; look at the pictures that `git diff` names

pictures/ has each view in each theme, drawn in DejaVu alone (whose glyphs no distribution changes) and kept with 256 colours.
"""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from PIL import Image

HERE = Path(__file__).resolve().parent
PICTURES = HERE / "pictures"
DEJAVU = Path("/usr/share/fonts/truetype/dejavu")
FONTS = {"Inter-Regular.otf": "DejaVuSans.ttf", "Inter-Medium.otf": "DejaVuSans.ttf", "Inter-SemiBold.otf": "DejaVuSans-Bold.ttf",
         "JetBrainsMono-Regular.ttf": "DejaVuSansMono.ttf"}  # the names that are looked for first
VISIBLE, PIXELS = 40, 3  # the difference of a pixel that counts; how many may have one
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


def draw(program):
    """The folder of the pictures."""
    out = program.folder / "pictures"
    out.mkdir()
    for theme in "light", "dark":
        for view in program.views:
            program.output(view, *TEXT, "--out", f"{out}/{view}-{theme}.png", "--size", "420x480", "--scale", "1", "--theme", theme,
                           "--no-caption", "--no-recipe")
    return out


def picture_difference(kept, now):
    """A few words, or None for pictures that look the same."""
    a, b = (numpy.asarray(Image.open(file).convert("RGB"), dtype=int) for file in (kept, now))
    if a.shape != b.shape:
        return f"{a.shape[1]}x{a.shape[0]} pixels became {b.shape[1]}x{b.shape[0]}"
    count = (abs(a - b).max(axis=2) > VISIBLE).sum()
    return f"{count} pixels differ" if count > PIXELS else None


def check(program, out):
    wrong = []
    drawn = draw(program)
    kept_names, drawn_names = ({file.name for file in folder.iterdir()} for folder in (PICTURES, drawn))
    for name in sorted(kept_names | drawn_names):
        if name not in kept_names & drawn_names:
            wrong.append(f"{name}: {'no longer drawn' if name in kept_names else 'not kept yet'}")
        elif said := picture_difference(PICTURES / name, drawn / name):
            out.mkdir(parents=True, exist_ok=True)
            shutil.copy(drawn / name, out)
            wrong.append(f"{name}: {said}; see {out / name}")
    print("\n".join(wrong[:60]))
    print(f"{len(kept_names)} pictures, {len(wrong)} differences" + ("; if they are as intended: goldens.py make" if wrong else ""))
    return 1 if wrong else 0


def make(program):
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir()
    for file in draw(program).iterdir():
        colors = Image.open(file).quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        colors.save(PICTURES / file.name, optimize=True)
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
