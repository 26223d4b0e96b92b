"""How long the Windows program takes under Wine beside the Linux program on the same machine; tests/windows.sh runs it.

    speed.py LINUX WINDOWS EMPTY [ROUNDS]   fails where Windows takes over 1.3 times as long

Each round runs one program after the other, and what is judged is the middle one of the rounds' ratios: a machine's speed changes more
from minute to minute than within a round. Programs are started anew for each picture. What Wine itself takes to start one is measured with EMPTY, a Windows
program that does nothing, and subtracted; for Linux it is `true`."""
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

MOST = 1.3
PROMPT = "The old king had a daughter, and the old king"


def timed(program, *words):
    begun = time.perf_counter()
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{program} {' '.join(words)}: status {done.returncode}, {done.stderr.decode()}")
    return 1000 * (time.perf_counter() - begun)


def measured(program, empty, folder):
    """Milliseconds, by what was measured."""
    start = min(timed(empty) for _ in range(3))
    found = {"start of nothing": start}
    found["version"] = timed(program, "--version")
    found["first picture"] = timed(program, "heatmap", "--prompt", PROMPT, "--out", f"{folder}/a.png")
    found["first window"] = timed(program, "shot", "--prompt", PROMPT, "--size", "1600x1000", "--out", f"{folder}/w.png")
    for name in ("first picture", "first window"):
        found[name + " after start"] = found[name] - start
    return found


def main():
    linux, windows, empty, *more = sys.argv[1:]
    start_of = {linux: "true", windows: empty}
    with tempfile.TemporaryDirectory() as folder:
        rounds = [{program: measured(program, start, Path(folder)) for program, start in start_of.items()}
                  for _ in range(int(more[0]) if more else 7)]
    slow = []
    print(f"{'milliseconds, the middle of ' + str(len(rounds)) + ' rounds':45} {'Linux':>9} {'Windows':>9} {'ratio':>6}")
    for name in rounds[0][linux]:
        ratio = median(both[windows][name] / both[linux][name] for both in rounds)
        judged = name.endswith("after start")
        if judged and ratio > MOST:
            slow.append(name)
        here, there = (median(both[program][name] for both in rounds) for program in (linux, windows))
        print(f"{name:45} {here:9.2f} {there:9.2f} {ratio:6.2f}{'' if judged else '  (not judged)'}")
    for name in slow:
        print(f"over {MOST}: {name}")
    sys.exit(bool(slow))


if __name__ == "__main__":
    main()
