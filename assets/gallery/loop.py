#!/usr/bin/env python3
"""Makes the README's pictures of the window again: assets/loop.png and assets/screenshot.png.

    python3 assets/gallery/loop.py [path of headscope]

Every frame is what `headscope shot` writes, so no display is needed. Requires Pillow (Debian: python3-pil).
"""

import pathlib
import subprocess
import sys
import tempfile

from PIL import Image, ImageDraw, ImageFont

HERE = pathlib.Path(__file__).resolve().parent
ASSETS = HERE.parent
PROMPT = "The green fish walk under golden bread and sing. Then the green fish walk under golden"
SIZE, SCALE = "1200x800", "0.8"  # 960 x 640 pixels
CAPTION = 40  # pixels under the window
# Inter is what the window's text is set in (Debian: fonts-inter).
FONT = "/usr/share/fonts/opentype/inter/Inter-Medium.otf"


def shot(headscope, out, *options):
    subprocess.run([headscope, "shot", *options, "--no-recipe", "--out", str(out)], check=True)
    return Image.open(out).convert("RGB")


def frames(headscope, folder):
    """(picture, caption, milliseconds) of each frame."""
    def frame(caption, milliseconds, *options, prompt=PROMPT):
        picture = shot(headscope, folder / "frame.png", "--prompt", prompt, *options, "--size", SIZE, "--scale", SCALE)
        return picture, caption, milliseconds

    typing = "Type a prompt: attention and predictions follow"
    words = PROMPT.split(" ")
    for count in range(1, len(words) + 1):
        yield frame(typing, 160, prompt=" ".join(words[:count]))
    yield frame(typing, 1500)
    for layer, head in ((0, 3), (1, 3)):
        yield frame("Choose a head", 350, "--layer", str(layer), "--head", str(head))
    chosen = ("--layer", "1", "--head", "6")
    yield frame("L1 H6 looks back to what followed “golden” the first time: an induction head", 3500, *chosen)
    off = (*chosen, "--edit", "L1H6.z=0")
    yield frame("Switch it off: “bread” was almost certain, and no longer is", 4000, *off)
    yield frame("What that does to the predictions at every layer: the logit lens, edited minus unedited", 4000, *off,
                "--view", "lens", "--show", "difference")


def captioned(picture, caption, font):
    result = Image.new("RGB", (picture.width, picture.height + CAPTION), "#20222c")
    result.paste(picture, (0, 0))
    ImageDraw.Draw(result).text((16, picture.height + CAPTION // 2 - 10), caption, font=font, fill="white")
    return result


def main():
    headscope = sys.argv[1] if len(sys.argv) > 1 else str(ASSETS.parent / "build/release/app/headscope")
    if not pathlib.Path(FONT).exists():
        sys.exit(f"{FONT} is missing; install fonts-inter")
    font = ImageFont.truetype(FONT, 16)
    with tempfile.TemporaryDirectory() as folder:
        made = list(frames(headscope, pathlib.Path(folder)))
    pictures = [captioned(picture, caption, font) for picture, caption, _ in made]
    # The file is an animated PNG: a GIF's 256 colours do not hold the scales of the pictures.
    pictures[0].save(ASSETS / "loop.png", save_all=True, append_images=pictures[1:], loop=0,
                     duration=[milliseconds for _, _, milliseconds in made])
    subprocess.run([headscope, "shot", "--prompt", PROMPT, "--layer", "2", "--head", "5", "--size", "1600x1000",
                    "--out", str(ASSETS / "screenshot.png")], check=True)


if __name__ == "__main__":
    main()
