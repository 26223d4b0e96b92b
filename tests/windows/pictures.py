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


def apart(a, b):
    """The largest difference of each pixel's channels."""
    return numpy.abs(a - b).max(axis=2)


def run(program, *words):
    return subprocess.run([*program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=300)


def views_of(program):
    done = run(program, "views", "--json")
    if done.returncode != 0:
        sys.exit(f"{program[0]} names no views: {done.stderr.decode()}")
    return [view["id"] for view in json.loads(done.stdout)["views"]]


def draw(job):
    program, view, prompt, file = job
    file.unlink(missing_ok=True)
    done = run(program, view, "--prompt", prompt, "--out", str(file))
    said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
    return "" if done.returncode == 0 and file.exists() else f"status {done.returncode}, {said[-1]}"


def compare(files, reasons):
    """Nothing if both files are there and the same to the pixel, else what is wrong."""
    if any(reasons):
        return "; ".join(f"{system} has no picture: {reason}" for system, reason in zip(("Linux", "Windows"), reasons) if reason)
    a, b = map(pixels, files)
    if a.shape != b.shape:
        return f"{a.shape[1]}x{a.shape[0]} pixels on Linux, {b.shape[1]}x{b.shape[0]} on Windows"
    differences = apart(a, b)
    if not differences.any():
        return ""
    rows, columns = numpy.nonzero(differences)
    return (f"{(differences > 0).sum()} of {differences.size} pixels differ, by up to {differences.max()} of 255, "
            f"within {columns.min()},{rows.min()} to {columns.max()},{rows.max()}")


def compare_views(linux, windows, out):
    views = views_of([linux])
    report = []
    if views != views_of([windows]):
        report.append("the programs name other views")
    systems = {"linux": linux, "windows": windows}
    cases = [(view, number, prompt) for view in views for number, prompt in enumerate(PROMPTS)]
    for system in systems:
        (out / system).mkdir(parents=True, exist_ok=True)
    file_of = lambda system, view, number: out / system / f"{view}-{number}.png"
    with ThreadPoolExecutor(2) as pool:
        reasons = list(pool.map(draw, [([program], view, prompt, file_of(system, view, number))
                                       for view, number, prompt in cases for system, program in systems.items()]))
    for n, (view, number, _) in enumerate(cases):
        wrong = compare([file_of(system, view, number) for system in systems], reasons[2 * n:2 * n + 2])
        if wrong:
            report.append(f"{view}-{number}: {wrong}")
    text = "\n".join(report + [f"{len(cases) - len(report)} of {len(cases)} pictures of {len(views)} views are the same to the pixel"])
    (out / "report.txt").write_text(text + "\n")
    print(text)
    return not report and bool(cases)


def compare_windows(one, other, most):
    a, b = pixels(one), pixels(other)
    if a.shape != b.shape:
        print(f"{one} has {a.shape[1]}x{a.shape[0]} pixels, {other} {b.shape[1]}x{b.shape[0]}")
        return False
    differences = apart(a, b)
    share = (differences > VISIBLY).mean()
    print(f"{(differences > 0).sum()} of {differences.size} pixels differ, by up to {differences.max()} of 255; "
          f"{share:.5f} of all by more than {VISIBLY}, {most} may")
    return share <= most


def main():
    kind, *words = sys.argv[1:]
    if kind == "views":
        good = compare_views(words[0], words[1], Path(words[2]))
    else:
        good = compare_windows(words[0], words[1], float(words[2]))
    sys.exit(not good)


if __name__ == "__main__":
    main()
