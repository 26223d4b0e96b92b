"""kill -9 at any moment: named files are complete, no other files are left, and the next run continues from there."""
import json
import math
import os
import random
import signal
import subprocess
import time

from hub import NAME, HubCase
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

    def test_many_pictures(self):
        prompts = self.folder / "prompts.jsonl"
        prompts.write_text("".join(json.dumps(f"{PROMPT} number {n}") + "\n" for n in range(12)))
        arguments = ("next", "--prompts", prompts, "--out")
        whole = self.folder / "whole"
        whole.mkdir()
        self.succeed(*arguments, whole / "{n}.svg")
        cut = self.folder / "cut"
        cut.mkdir()
        for _ in range(KILLS):
            self.killed(STARTS + 0.3, *arguments, cut / "{n}.svg")
            for path in cut.iterdir():
                if path.suffix == ".svg":
                    self.assertEqual(path.read_bytes(), (whole / path.name).read_bytes())
        self.succeed(*arguments, cut / "{n}.svg")
        self.assertEqual(sorted(path.name for path in cut.iterdir() if path.suffix == ".svg"),
                         sorted(path.name for path in whole.iterdir()))
        if nameless(self.folder):
            figures = [path.read_bytes() for path in whole.iterdir()]
            # A picture that takes another's place has a moment with a name of its own on every system.
            self.remove_of_a_moment(cut, [path.name for path in whole.iterdir()],
                                    lambda path: self.assertIn(path.read_bytes(), figures))
            self.assertEqual(len(list(cut.iterdir())), 12)


class EndOfAWindow(ProgramCase):
    @only_on_linux("signals")
    def test_keeps_what_was_typed(self):
        """Within three seconds, though nothing else happens; and at once if a signal asks the window to end."""
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            folder = self.folder / number.name
            kept = folder / "headscope/window-1.headscope"

            def shown():
                return json.loads(kept.read_text()).get("prompt", {}).get("text") if kept.exists() else ""

            with Screen() as screen:
                process = screen.start("--prompt", PROMPT, env={"XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)})
                self.assertTrue(until(lambda: shown() == PROMPT, seconds=20))
                screen.keys("q")
                if number == signal.SIGKILL:
                    self.assertTrue(until(lambda: shown() == PROMPT + "q", seconds=20))
                process.send_signal(number)
                self.assertEqual(end_of(process), (-number, b"", ""))
            self.assertEqual(shown(), PROMPT + "q", number.name)


class KillOfAFetch(HubCase):
    def test_goes_on_where_it_was(self):
        rng = random.Random(8)
        weights = self.snapshot / "model.safetensors"
        for _ in range(KILLS):
            process = subprocess.Popen([HEADSCOPE, "get", NAME], env={**os.environ, **self.env}, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            try:
                process.wait(rng.uniform(0, STARTS + 0.15))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(60)
            if weights.exists():
                self.assertEqual(weights.read_bytes(), self.server.files["model.safetensors"])
        self.succeed("get", NAME, env=self.env, notes=True)
        for name, content in self.server.files.items():
            if (self.snapshot / name).exists():
                self.assertEqual((self.snapshot / name).read_bytes(), content)
        self.assertEqual([path.name for path in self.model.rglob("*.incomplete")], [])
        self.json("info", "--model", NAME, env=self.env)


if __name__ == "__main__":
    main()
