"""Unusual environments: everything works the same, or one sentence says what is missing."""
import itertools
import os
import resource
import subprocess

from program import HEADSCOPE, PROMPT, ProgramCase, main, random_model
from faulty import SHIM, contents, side_by_side
from screen import Screen, end_of

HOMES = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "TMPDIR")
GIVEN = ["--prompt", PROMPT]
COMMANDS = [
    ["predict", *GIVEN, "--json"],
    ["generate", *GIVEN, "--tokens", "5", "--temperature", "0.7", "--top-p", "0.9"],
    ["metrics", *GIVEN],
    ["trace", *GIVEN, "--hooks", "*pattern", "--out", "OUT/run.safetensors"],
    ["heatmap", *GIVEN, "--out", "OUT/a.png"],
    ["lens", *GIVEN, "--svg-text", "--out", "OUT/a.svg"],
    ["next", *GIVEN, "--out", "OUT/a.pdf"],
    ["scores", *GIVEN, "--out", "OUT/a.csv"],
    ["shot", *GIVEN, "--size", "800x560", "--out", "OUT/w.png"],
    ["doctor"],
]


class SurroundingsCase(ProgramCase):
    def setUp(self):
        super().setUp()
        self.numbers = itertools.count()
        self.model = random_model(self.folder / "model", layers=2, heads=2, d_model=8, ctx=64)

    def ran(self, words, env=None, without=(), before=(), **more):
        """Exit status, standard error and results of a run with `env` and without some environment variables."""
        place = self.folder / f"{next(self.numbers)}"
        place.mkdir()
        given = [] if words[0] == "doctor" else ["--model", self.model]
        words = [*before, HEADSCOPE, *(str(word).replace("OUT", str(place)) for word in [*words, *given])]
        environment = {name: value for name, value in os.environ.items() if name not in without} | (env or {})
        done = subprocess.run(words, env=environment, capture_output=True, timeout=120, **more)
        return done.returncode, done.stderr.decode(), (done.stdout, contents(place))

    def expect_same_results(self, env=None, without=(), commands=COMMANDS[:-1], **more):
        def compare(words):
            expected = self.ran(words)
            self.assertEqual(expected[:2], (0, ""), words)
            found = self.ran(words, env, without, **more)
            self.assertEqual(found[:2], expected[:2], words)
            self.assertTrue(found == expected, (words, "other results"))
        side_by_side(compare, commands)


class Locales(SurroundingsCase):
    def test_with_a_comma_in_numbers(self):
        """Creates the locale; skipped if that is not possible."""
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", self.folder / "de_DE.UTF-8"], capture_output=True)
        if not (self.folder / "de_DE.UTF-8/LC_NUMERIC").exists():
            self.skipTest(made.stderr.decode())
        env = {"LC_ALL": "de_DE.UTF-8", "LOCPATH": str(self.folder)}
        self.assertEqual(subprocess.run(["bash", "-c", "printf %.1f 1,5"], env={**os.environ, **env}, capture_output=True).stdout,
                         b"1,5", "bash knows the locale")
        self.expect_same_results(env)
        settings = self.folder / "headscope/settings.json"
        settings.parent.mkdir()
        settings.write_text('{"font-size": 15.5}')
        with Screen() as screen:
            process = screen.start(*GIVEN, env={**env, "XDG_CONFIG_HOME": str(self.folder)})
            screen.keys("ctrl+q")
            self.assertEqual(end_of(process), (0, b"", ""))
        self.assertIn('"font-size": 15.5', settings.read_text())


class Homes(SurroundingsCase):
    def test_that_are_missing_or_cannot_be_written(self):
        file = self.folder / "file"
        file.write_text("no folder")
        self.expect_same_results(without=HOMES)
        for home in ("/nowhere", "", "/proc", str(file)):
            self.expect_same_results({name: home for name in HOMES})

    def test_of_the_window(self):
        file = self.folder / "file"
        file.write_text("no folder")

        def attempt(env):
            with Screen() as screen:
                process = screen.start("--model", self.model, *GIVEN, env=env)
                screen.keys("ctrl+q")
                return end_of(process)

        homeless = {name: "" for name in HOMES}
        self.assertEqual(attempt(homeless), (0, b"", ""))
        for where in ("/proc", str(file)):
            for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
                status, out, err = attempt({**homeless, name: where})
                self.assertEqual((status, out), (1, b""), (name, where, err))
                self.assertIn(where, self.sentence(err))

    def test_a_working_folder_that_is_gone(self):
        self.expect_same_results(before=["bash", "-c", 'cd $(mktemp -d) && rmdir "$PWD" && exec "$@"', "bash"])


class Fonts(SurroundingsCase):
    def test_none(self):
        env = {"LD_PRELOAD": SHIM, "FAULTY_HIDDEN": "/usr/share/fonts:/usr/local/share/fonts", **{name: "" for name in HOMES}}
        self.expect_same_results(env, commands=[words for words in COMMANDS if words[0] in ("predict", "generate", "metrics", "trace", "scores")])
        for words in COMMANDS:
            if words[-1].endswith((".png", ".svg", ".pdf")):
                status, err, made = self.ran(words, env)
                self.assertEqual((status, made), (1, (b"", {})), (words, err))
                self.assertIn("font", self.sentence(err))
        status, err, (told, _) = self.ran(["doctor"], env)
        self.assertRegex(told.decode(), r"broken +regular +")
        with Screen() as screen:
            status, out, err = end_of(screen.start("--model", self.model, *GIVEN, env=env))
        self.assertEqual((status, out), (1, b""))
        self.assertIn("font", self.sentence(err))


class Streams(SurroundingsCase):
    def test_that_are_closed(self):
        file_makers = [words for words in COMMANDS if "--out" in words]
        for closed in itertools.chain.from_iterable(itertools.combinations(range(3), n) for n in (1, 2, 3)):
            def close(closed=closed):
                for stream in closed:
                    os.close(stream)
            for words in file_makers[:2]:
                status, _, (_, made) = self.ran(words, preexec_fn=close)
                self.assertEqual((status, made), (0, self.ran(words)[2][1]), (words, closed))
            status, err, (said, _) = self.ran(COMMANDS[0], preexec_fn=close)
            if 1 in closed:
                self.assertEqual((status, said), (1, b""))
                if 2 not in closed:
                    self.assertIn("standard output", self.sentence(err))
            else:
                self.assertEqual((status, said), (0, self.ran(COMMANDS[0])[2][0]))
            status, err, _ = self.ran(["predict", "--prompt-file", "-"], preexec_fn=close)
            if 0 in closed:
                self.assertEqual(status, 1)
                if 2 not in closed:
                    self.assertIn("standard input", self.sentence(err))

    def test_nobody_reads(self):
        for words, stream in ((COMMANDS[0], "stdout"), (["heatmap", *GIVEN, "--format", "svg", "--out", "-"], "stdout"),
                              (["predict", "--model", "/nowhere", *GIVEN], "stderr")):
            end, other = os.pipe()
            os.close(end)
            done = subprocess.run([HEADSCOPE, *words], timeout=60, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: other})
            os.close(other)
            self.assertEqual((done.returncode, done.stdout or b"", done.stderr or b""), (1, b"", b""), words)


class Limits(SurroundingsCase):
    def test_few_files_at_a_time(self):
        def limit(files):
            return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        self.expect_same_results(preexec_fn=limit(32))

    def test_no_memory_for_the_weights(self):
        env = {"LD_PRELOAD": SHIM, "FAULTY_PATH": "memory", "FAULTY_CALL": "map", "FAULTY_AT": "1", "FAULTY_HOW": "12"}
        for words in (COMMANDS[0], COMMANDS[-2]):
            status, err, made = self.ran(words, env)
            self.assertEqual((status, made), (1, (b"", {})))
            self.assertIn("not enough memory for the weights", self.sentence(err))

    def test_no_threads(self):
        env = {"LD_PRELOAD": SHIM, "FAULTY_PATH": "/", "FAULTY_CALL": "thread", "FAULTY_AT": "1", "FAULTY_AGAIN": "1",
               "FAULTY_HOW": "11"}
        self.expect_same_results(env, commands=[words for words in COMMANDS[:-1] if words[0] != "shot"])
        status, err, made = self.ran(COMMANDS[-2], env)
        self.assertEqual((status, made), (1, (b"", {})))
        self.assertIn("thread", self.sentence(err))
        for last in range(1, 6):
            self.expect_same_results({**env, "FAULTY_AT": str(last)}, commands=[[*COMMANDS[0], "--threads", "4"]])


class Displays(SurroundingsCase):
    def test_no_drivers(self):
        with Screen() as screen:
            process = screen.start(*GIVEN, env={"LIBGL_DRIVERS_PATH": "/nowhere", "GALLIUM_DRIVER": "nonsense",
                                                "XDG_CONFIG_HOME": str(self.folder)})
            status, out, err = end_of(process)
        self.assertEqual((status, out), (1, b""), err)
        self.assertRegex(err.splitlines()[-1], r"\Aheadscope: .*OpenGL.*LIBGL_ALWAYS_SOFTWARE=1")

    def test_no_glx(self):
        for options, env, remedy in ((["-extension", "GLX"], {}, r"\+extension GLX"),
                                     ([], {"LIBGL_ALWAYS_INDIRECT": "1"}, "unset LIBGL_ALWAYS_INDIRECT")):
            with Screen(*options) as screen:
                env = {**env, "XDG_CONFIG_HOME": str(self.folder)}
                status, out, err = end_of(screen.start(*GIVEN, env=env))
                self.assertEqual((status, out), (1, b""), err)
                self.assertRegex(err.splitlines()[-1], r"\Aheadscope: .*" + remedy)
                told = self.ran(["doctor"], {**env, "DISPLAY": screen.display})[2][0].decode()
                self.assertRegex(told, r"broken +OpenGL .*\n +-> .*" + remedy)

    def test_no_glfw(self):
        (self.folder / "libglfw.so.3").touch()  # found first, and no library
        env = {**os.environ, "LD_LIBRARY_PATH": str(self.folder)}
        done = subprocess.run([HEADSCOPE, *GIVEN], env=env, capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn("install libglfw3", done.stderr.decode())
        subprocess.run([HEADSCOPE, "--version"], env=env, stdout=subprocess.DEVNULL, check=True, timeout=60)

    def test_none(self):
        for display in ("", ":4711", "nonsense"):
            done = subprocess.run([HEADSCOPE, *GIVEN], env={**os.environ, "DISPLAY": display, "WAYLAND_DISPLAY": ""},
                                  capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertIn("display", self.sentence(done.stderr))


if __name__ == "__main__":
    main()
