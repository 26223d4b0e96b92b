"""kill -9 at any moment: named files are complete, no other files are left, and the next run continues from there."""
import json
import math
import os
import random
import signal
import subprocess
import time

from program import HEADSCOPE, ON_WINDOWS, PROMPT, ProgramCase, main, only_on_linux, passed, until
import safetensors_io
from screen import Screen, end_of

KILLS = 20
STARTS = 0.5 if ON_WINDOWS else 0  # seconds in which nothing happens yet


def nameless(folder):
    """Whether the file system has unnamed files; without them a killed process leaves its partial file. Windows deletes it."""
    if ON_WINDOWS:
        return True
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR))
    except OSError:
        return False
    return True


class Kill(ProgramCase):
    def setUp(self):
        super().setUp()
        self.random = random.Random(7)

    def killed(self, seconds, *arguments, env=None):
        """Runs the program and kills it after a fraction of a time, if it still runs; returns whether it did."""
        process = subprocess.Popen([HEADSCOPE, *map(passed, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env={**os.environ, **(env or {})})
        try:
            process.wait(self.random.uniform(0, seconds))
        except subprocess.TimeoutExpired:
            process.kill()
        _, err = process.communicate(timeout=60)
        self.assertIn(process.returncode, (0, -signal.SIGKILL), err)
        return process.returncode != 0

    def storm(self, *arguments, env=None, check):
        """Kills the program at times spread over its whole run, and calls `check` after each."""
        took = math.inf  # the fastest: other work may slow one down
        for _ in range(3):
            begun = time.monotonic()
            self.succeed(*arguments, env=env, notes=True)
            took = min(took, time.monotonic() - begun)
            check()
        kills = 0
        for _ in range(KILLS):
            kills += self.killed(took, *arguments, env=env)
            check()
        self.assertGreater(kills, KILLS // 4)

    def only(self, *names, whole):
        if nameless(self.folder):
            if ON_WINDOWS:
                self.remove_of_a_moment(self.folder, names, whole)
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), sorted(names))

    def remove_of_a_moment(self, folder, names, whole):
        """Windows deletes the file of a killed process when it has noticed. Two moments are too short to be closed: the file is made
        before it can be marked as one to delete, and unmarked before it gets its name. Killed in one of them it is left, and is
        empty or whole."""
        until(lambda: sorted(path.name for path in folder.iterdir()) == sorted(names), seconds=3)
        for path in folder.glob(".headscope-*.part"):
            if path.stat().st_size > 0:
                whole(path)
            path.unlink()

    def only_and_whole(self, names, whole):
        """As `only`, but for a file that takes another's place: no system has a way to do that without a moment in which
        it has a name of its own. Killed in that moment it is left, and whole."""
        if not ON_WINDOWS:
            left = list(self.folder.glob(".headscope-*.part"))
            self.assertLessEqual(len(left), 1)
            for path in left:
                whole(path)
                path.unlink()
        self.only(*names, whole=whole)

    def test_a_trace(self):
        out = self.folder / "run.safetensors"

        def check():
            safetensors_io.read(out)
            self.only_and_whole([out.name], safetensors_io.read)

        arguments = ("trace", "--prompt", PROMPT * 8, "--out", out)
        self.storm(*arguments, check=check)
        for _ in range(KILLS):
            out.unlink(missing_ok=True)
            self.killed(STARTS + 0.3, *arguments)
            if out.exists():
                safetensors_io.read(out)
            self.only(*[out.name] * out.exists(), whole=safetensors_io.read)


class EndOfAWindow(ProgramCase):
    @only_on_linux("signals")
    def test_keeps_what_was_typed(self):
        """Within three seconds, though nothing else happens; and at once if a signal asks the window to end."""
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            folder = self.folder / number.name
            kept = folder / "headscope/window-1.headscope"

            def shown():
                return json.loads(kept.read_text()).get("prompt", "") if kept.exists() else ""

            with Screen() as screen:
                process = screen.start("--prompt", PROMPT, env={"XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)})
                self.assertTrue(until(lambda: shown() == PROMPT, seconds=20))
                screen.keys("q")
                if number == signal.SIGKILL:
                    self.assertTrue(until(lambda: shown() == PROMPT + "q", seconds=20))
                process.send_signal(number)
                self.assertEqual(end_of(process), (-number, b"", ""))
            self.assertEqual(shown(), PROMPT + "q", number.name)


if __name__ == "__main__":
    main()
