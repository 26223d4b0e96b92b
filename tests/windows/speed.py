"""How long the Windows program takes under Wine beside the Linux program on the same machine; tests/windows.sh runs it.

    speed.py LINUX WINDOWS [ROUNDS]      the best of some rounds of each, by turns. Fails where Windows takes over 1.3 times as long

Programs are started anew for the first picture; what Wine itself takes to start one is measured with a program that only says its
version, and told beside it."""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST = 1.3
PROMPT = "The old king had a daughter, and the old king"


def timed(program, *words):
    begun = time.perf_counter()
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{program} {' '.join(words)}: status {done.returncode}, {done.stderr.decode()}")
    return 1000 * (time.perf_counter() - begun), done.stdout


def measured(program, folder):
    """Milliseconds, by what was measured."""
    found = {"start": timed(program, "--version")[0]}
    found["first picture"] = timed(program, "plot", "heatmap", "--prompt", PROMPT, "--out", f"{folder}/a.png")[0]
    found["first window"] = timed(program, "shot", "--prompt", PROMPT, "--size", "1600x1000", "--out", f"{folder}/w.png")[0]
    for name in ("first picture", "first window"):
        found[name + " after start"] = found[name] - found["start"]
    report = json.loads(timed(program, "bench", "--ui", "--json", "--tokens", "16,64,240")[1])
    for entry in report["runs"] + report["window"]:
        for name, took in entry.items():
            if name.endswith("_ms") and "longest" not in name:
                found[f"{entry['tokens']:4} tokens: {name.removesuffix('_ms').replace('_', ' ')}"] = took
    return found


def main():
    linux, windows, *more = sys.argv[1:]
    rounds = int(more[0]) if more else 5
    best = {linux: {}, windows: {}}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for program, found in best.items():
                for name, took in measured(program, Path(folder)).items():
                    found[name] = min(took, found.get(name, took))
    slow = []
    print(f"{'milliseconds, the best of ' + str(rounds):45} {'Linux':>9} {'Windows':>9} {'ratio':>6}")
    for name, took in best[linux].items():
        ratio = best[windows][name] / took
        judged = name != "start" and (not name.startswith("first") or name.endswith("after start"))
        if judged and ratio > MOST:
            slow.append(name)
        print(f"{name:45} {took:9.2f} {best[windows][name]:9.2f} {ratio:6.2f}{'' if judged else '  (with the start of Wine)'}")
    for name in slow:
        print(f"over {MOST}: {name}")
    sys.exit(bool(slow))


if __name__ == "__main__":
    main()
