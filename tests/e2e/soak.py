#!/usr/bin/env python3
"""Uses the window for an hour as people do, only without rest, and says what memory it holds.

    HEADSCOPE=build/test/app/headscope tests/e2e/soak.py [MINUTES] [SEED]

Types, clicks, scrolls, pastes, exports and closes again in a private X server. What it holds is compared where it shows the same:
the session of the start, opened again after the first minute and at the end. Exit status 1: the window ended, or held more than a
fifth above what it held then.
"""
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from program import TALES, until
from screen import Screen

WORDS = ["the ", "wolf ", "and ", "a ", "lamb ", "once ", "upon ", "time, ", "said ", "king. ", "\u00e9t\u00e9 "]


def resident(process):
    """Megabytes."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


class Person:
    def __init__(self, screen, folder, seed):
        self.screen, self.folder, self.random = screen, folder, random.Random(seed)
        self.done = dict.fromkeys(["type", "click", "scroll", "paste", "export", "close", "look"], 0)

    def keys(self, *keys):
        self.screen.tool("key", "--delay", "15", *keys)

    def write(self, text):
        self.screen.tool("type", "--delay", "8", text)

    def point(self):
        return str(self.random.randrange(1700)), str(self.random.randrange(1100))

    def type(self):
        if self.random.randrange(4) == 0:
            self.keys("Escape", "Escape", "ctrl+a", "BackSpace")
        self.write("".join(self.random.choices(WORDS, k=self.random.randrange(1, 8))))

    def click(self):
        for _ in range(5):
            self.screen.tool("mousemove", *self.point(), "click", str(self.random.choice([1, 1, 1, 1, 3])))

    def scroll(self):
        self.screen.tool("mousemove", *self.point(), "click", "--repeat", "5", "--delay", "15", self.random.choice("45"))

    def paste(self):
        self.keys("Escape", "Escape", "ctrl+a", "ctrl+c", "End", *["ctrl+v"] * 3)

    def export(self):
        ending = self.random.choice(["png", "svg", "pdf"])
        self.keys("Escape", "Escape", "ctrl+e")
        self.keys("ctrl+a")
        self.write(str(self.folder / f"picture{self.random.randrange(10)}.{ending}"))
        self.keys("Return", "Return")

    def close(self):
        self.keys("ctrl+k")
        self.write(self.random.choice(["lens", "sweep", "export", "tour", "theme"]))
        self.keys("Escape", "Escape", "Escape")

    def look(self):
        self.keys(self.random.choice(["ctrl+Next", "ctrl+Prior", "alt+Down", "alt+Up", "alt+Right", "ctrl+t", "ctrl+z", "Tab"]))

    def act(self):
        name = self.random.choice(list(self.done))
        getattr(self, name)()
        self.done[name] += 1

    def show_again(self, session, process):
        """Megabytes, once the session is shown."""
        self.keys("Escape", "Escape", "Escape", "ctrl+o")
        self.keys("ctrl+a")
        self.write(str(session))
        self.keys("Return")
        time.sleep(8)
        held = []
        for _ in range(8):
            time.sleep(0.5)
            held.append(resident(process))
        return statistics.median(held)


def main():
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as work, Screen() as screen:
        folder = Path(work)
        # Nothing that a click opens leaves this folder, or opens a browser.
        process = screen.start("--model", TALES, "--prompt", "The wolf and the lamb",
                               env={"XDG_CONFIG_HOME": work, "XDG_STATE_HOME": work, "XDG_CACHE_HOME": work, "HOME": work,
                                    "BROWSER": "true", "PATH": work, "HTTPS_PROXY": "http://127.0.0.1:9"})
        person = Person(screen, folder, seed)
        for window in screen.windows():
            screen.tool("windowfocus", window)
        session = folder / "start.headscope"
        until((folder / "headscope" / "window-1.headscope").is_file)
        shutil.copy(folder / "headscope" / "window-1.headscope", session)
        for _ in range(6):  # more than the context holds: what is kept of a run follows from its tokens
            person.paste()
        begin, samples, first = time.monotonic(), [], None
        while (seconds := time.monotonic() - begin) < 60 * minutes:
            person.act()
            if process.poll() is not None:
                print(f"the window ended with status {process.returncode} after {seconds:.0f} s:", process.stderr.read().decode())
                return 1
            if not samples or seconds > samples[-1][0] + 5:
                samples.append((seconds, resident(process)))
            if first is None and seconds > 60:
                first = person.show_again(session, process)
        last = person.show_again(session, process)
        for at, held in samples[:: max(1, len(samples) // 30)]:
            print(f"{at / 60:6.1f} min {held:8.1f} MB")
        print(", ".join(f"{name} {times}" for name, times in person.done.items()))
        print(f"after a minute {first:.1f} MB, at the end {last:.1f} MB: {last / first - 1:+.1%}")
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
        return int(last > 1.2 * first)


if __name__ == "__main__":
    sys.exit(main())
