"""How long the Windows program takes under Wine beside the Linux program on the same machine; tests/windows.sh runs it.

    speed.py LINUX WINDOWS EMPTY [ROUNDS]   fails where Windows takes over 1.3 times as long

Each round runs one program after the other, and what is judged is the middle one of the rounds' ratios: a machine's speed changes more
from minute to minute than within a round. Prompts of all lengths are judged together: what one letter takes, a few milliseconds, doubles
on either system with which thread is woken first.
Programs are started anew for the first picture. What Wine itself takes to start one is measured with EMPTY, a Windows program that
does nothing, and subtracted; for Linux it is `true`."""
import json
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
    return 1000 * (time.perf_counter() - begun), done.stdout


def measured(program, empty, folder):
    """Milliseconds, by what was measured."""
    start = min(timed(empty)[0] for _ in range(3))
    found = {"start of nothing": start}
    found["version"] = timed(program, "--version")[0]
    found["first picture"] = timed(program, "plot", "heatmap", "--prompt", PROMPT, "--out", f"{folder}/a.png")[0]
    found["first window"] = timed(program, "shot", "--prompt", PROMPT, "--size", "1600x1000", "--out", f"{folder}/w.png")[0]
    report = json.loads(timed(program, "bench", "--ui", "--json", "--tokens", "16,64,240")[1])
    for entry in report["runs"] + report["window"]:
        for name, took in entry.items():
            if name.endswith("_ms") and "longest" not in name:
                found[f"{entry['tokens']:4} tokens: {name.removesuffix('_ms').replace('_', ' ')}"] = took
    return found


def kind_of(name):
    """What is judged of a measurement: all lengths of a prompt together; None: nothing."""
    if "tokens: " in name:
        return "all lengths: " + name.split("tokens: ")[1]
    return name if name.startswith("first") and name.endswith("after start") else None


def with_sums(found):
    for name in ("version", "first picture", "first window"):
        found[name + " after start"] = found[name] - found["start of nothing"]
    for name, took in list(found.items()):
        kind = kind_of(name)
        if kind and kind != name:
            found[kind] = found.get(kind, 0) + took
    return found


def main():
    linux, windows, empty, *more = sys.argv[1:]
    start_of = {linux: "true", windows: empty}
    with tempfile.TemporaryDirectory() as folder:
        rounds = [{program: with_sums(measured(program, start, Path(folder))) for program, start in start_of.items()}
                  for _ in range(int(more[0]) if more else 7)]
    slow = []
    print(f"{'milliseconds, the middle of ' + str(len(rounds)) + ' rounds':45} {'Linux':>9} {'Windows':>9} {'ratio':>6}")
    for name in rounds[0][linux]:
        ratio = median(both[windows][name] / both[linux][name] for both in rounds)
        judged = name.startswith("all lengths") or kind_of(name) == name
        if judged and ratio > MOST:
            slow.append(name)
        here, there = (median(both[program][name] for both in rounds) for program in (linux, windows))
        print(f"{name:45} {here:9.2f} {there:9.2f} {ratio:6.2f}{'' if judged else '  (not judged)'}")
    for name in slow:
        print(f"over {MOST}: {name}")
    sys.exit(bool(slow))


if __name__ == "__main__":
    main()
