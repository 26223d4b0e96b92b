"""The real window for a long time: what it keeps in memory, what it does while nothing happens, and a storm of resizes.
HEADSCOPE_SECONDS asks for more than the suite has time for; 3600 is an hour."""
import os
import random
import re
import shutil
import time
import unittest
from pathlib import Path

from program import ProgramCase, main
from screen import Screen, end_of

SECONDS = float(os.environ.get("HEADSCOPE_SECONDS", "20"))
TICKS = os.sysconf("SC_CLK_TCK")
WORDS = "the old king had a daughter and she was so beautiful that the sun himself wondered whenever".split()


@unittest.skipUnless(shutil.which("Xvfb") and shutil.which("xdotool"), "Xvfb or xdotool is not installed")
class RealWindow(ProgramCase):
    def setUp(self):
        super().setUp()
        self.screen = Screen()
        self.addCleanup(self.screen.__exit__)
        self.program = self.screen.start("--prompt", "Once upon a time", env={
            "HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder / "config"), "XDG_CACHE_HOME": str(self.folder / "cache")})
        self.addCleanup(self.program.kill)
        self.window = self.screen.windows()[0]
        self.xdotool("windowfocus", self.window)
        time.sleep(2)

    def xdotool(self, *words):
        return self.screen.tool(*map(str, words), check=True)

    def quit(self):
        """Ends the program, which must succeed without messages."""
        self.xdotool("key", "ctrl+q")
        self.assertEqual(end_of(self.program), (0, b"", ""))

    def seconds_of_work(self):
        """Processor time of all threads so far, in seconds."""
        fields = Path(f"/proc/{self.program.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def wakes(self):
        """How often each thread was scheduled."""
        return {task.name: int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.M)[1])
                for task in Path(f"/proc/{self.program.pid}/task").iterdir()}

    def kilobytes(self):
        """The program's anonymous memory."""
        return int(re.search(r"^RssAnon:\s+(\d+)", Path(f"/proc/{self.program.pid}/status").read_text(), re.M)[1])

    def share_of_a_processor(self, seconds):
        before = self.seconds_of_work()
        time.sleep(seconds)
        return (self.seconds_of_work() - before) / seconds

    def test_a_window_that_nothing_happens_to_does_nothing(self):
        self.xdotool("type", " there")
        time.sleep(1)
        blinking = self.share_of_a_processor(6)
        time.sleep(8)  # the caret rests ten seconds after the last key
        before = self.wakes()
        resting = self.share_of_a_processor(5)
        woken = {task: count - before.get(task, 0) for task, count in self.wakes().items() if count > before.get(task, 0) + 1}
        print(f"of a processor: {100 * blinking:.2f} % with a blinking caret, {100 * resting:.2f} % without")
        self.assertLess(resting, 0.005)
        self.assertEqual(woken, {}, "a thread wakes while nothing happens")
        self.quit()

    def test_memory_is_flat(self):
        """Typing, generating, switching heads, views and edits, over and over: memory does not grow after a third of the time."""
        chosen = random.Random(1)
        begin = time.monotonic()
        seen = []
        rounds = 0
        while time.monotonic() < begin + SECONDS or rounds < 12:
            rounds += 1
            self.xdotool("key", "ctrl+a")
            self.xdotool("type", "--delay", "5", " ".join(chosen.choices(WORDS, k=12)))
            self.xdotool("key", "--delay", "5", "ctrl+g", "alt+Down", "alt+shift+Right", "ctrl+Up", "ctrl+Next", "alt+slash", "alt+Down", "ctrl+Prior",
                         "ctrl+Next", "ctrl+Next", "ctrl+u", "ctrl+g", "alt+Up", "ctrl+z", "ctrl+y", "alt+Left")
            self.assertIsNone(self.program.poll(), "the program ended")
            if rounds % 3 == 0:
                time.sleep(1.5)  # a person looks at it, and what was freed goes back
                seen.append((time.monotonic() - begin, self.kilobytes()))
            if SECONDS >= 600 and rounds % 60 == 0:
                print(f"{seen[-1][0]:.0f} s, {rounds} rounds: {seen[-1][1]} kB", flush=True)
        # The maxima of many rounds in each of the last two thirds, since cached data comes and goes.
        third = len(seen) // 3
        early, late = (max(kilobytes for _, kilobytes in part) for part in (seen[third:2 * third], seen[2 * third:]))
        print(f"{rounds} rounds in {seen[-1][0]:.0f} s: {early} kB in the second third at most, {late} kB in the last")
        # In the suite's seconds what is kept still fills up to its bounds; what leaks in every round is more than that.
        self.assertLess(late, early * 1.01 if SECONDS >= 600 else early + 65536)
        self.quit()

    def test_a_storm_of_resizes(self):
        chosen = random.Random(2)
        for _ in range(150):
            self.xdotool("windowsize", self.window, chosen.randint(1, 2600), chosen.randint(1, 1800))
        self.xdotool("windowsize", self.window, 1200, 800)
        self.xdotool("type", " there")
        time.sleep(1)
        self.assertIn("1200x800", self.xdotool("getwindowgeometry", self.window))
        self.quit()
        self.assertIn("Once upon a time there", (self.folder / "config/headscope/settings.json").read_text())


if __name__ == "__main__":
    main()
