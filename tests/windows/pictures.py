"""Pictures of the Windows program beside those of the Linux program; tests/windows.sh runs it.

    pictures.py views LINUX WINDOWS OUT      every view's PNG of each prompt: no pixel may differ
    pictures.py same A.png B.png MOST        two pictures of the window: at most the share MOST of all pixels may differ visibly"""
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
from PIL import Image

# What a person with no model of their own sees first, and letters and signs of other scripts.
PROMPTS = ("The old king had a daughter, and the old king", "Zoë — naïve café, 中文 and 😀")
VISIBLY = 24  # of 255; the tests of OpenGL's pixels on Linux allow as much


def pixels(file):
    return numpy.asarray(Image.open(file).convert("RGBA"), dtype=int)


def run(program, *words):
    return subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=300)


def draw(job):
    """Why there is no picture; empty: there is one."""
    program, view, prompt, file = job
    file.unlink(missing_ok=True)
    done = run(program, view, "--prompt", prompt, "--out", str(file))
    return "" if done.returncode == 0 and file.exists() else f"status {done.returncode}, {done.stderr.decode('utf-8', 'replace')}"


def difference(one, other):
    """In words; empty: the pictures are the same to the pixel."""
    a, b = pixels(one), pixels(other)
    if a.shape != b.shape:
        return f"{a.shape[1]}x{a.shape[0]} pixels became {b.shape[1]}x{b.shape[0]}"
    apart = numpy.abs(a - b).max(axis=2)
    return f"{(apart > 0).sum()} of {apart.size} pixels differ, by up to {apart.max()} of 255" if apart.any() else ""


def compare_views(linux, windows, out):
    systems = {"linux": linux, "windows": windows}
    views, of_windows = ([view["id"] for view in json.loads(run(program, "views", "--json").stdout)["views"]]
                         for program in systems.values())
    report = [] if views == of_windows else ["the programs name other views"]
    cases = [(view, number, prompt) for view in views for number, prompt in enumerate(PROMPTS)]
    for system in systems:
        (out / system).mkdir(parents=True, exist_ok=True)
    files = [[out / system / f"{view}-{number}.png" for system in systems] for view, number, _ in cases]
    with ThreadPoolExecutor(2) as pool:
        reasons = list(pool.map(draw, [(program, view, prompt, file) for (view, _, prompt), pair in zip(cases, files)
                                       for program, file in zip(systems.values(), pair)]))
    for n, pair in enumerate(files):
        wrong = "; ".join(filter(None, reasons[2 * n:2 * n + 2])) or difference(*pair)
        if wrong:
            report.append(f"{pair[0].stem}: {wrong}")
    text = "\n".join(report + [f"{len(cases) - len(report)} of {len(cases)} pictures of {len(views)} views are the same to the pixel"])
    (out / "report.txt").write_text(text + "\n")
    print(text)
    return not report and bool(cases)


def compare_windows(one, other, most):
    print(difference(one, other), f"; {most} of all may differ by more than {VISIBLY}")
    a, b = pixels(one), pixels(other)
    return a.shape == b.shape and (numpy.abs(a - b).max(axis=2) > VISIBLY).mean() <= most


def main():
    kind, *words = sys.argv[1:]
    if kind == "views":
        good = compare_views(words[0], words[1], Path(words[2]))
    else:
        good = compare_windows(words[0], words[1], float(words[2]))
    sys.exit(not good)


if __name__ == "__main__":
    main()
