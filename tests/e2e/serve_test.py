"""headscope serve: the real program answers requests line by line, as the commands print, and ends as it should."""
import json
import os
import shutil
import signal
import subprocess

from program import HEADSCOPE, PROMPT, TALES, ProgramCase, main, only_on_linux, run, spelled, until


class Served:
    """A running `headscope serve`."""

    def __init__(self, *more):
        self.process = subprocess.Popen([HEADSCOPE, "serve", "--stdio", *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def ask_line(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline().decode("utf-8", "strict"))

    def ask(self, command, **options):
        request = {"id": 1, "command": command, "options": {name.replace("_", "-"): value for name, value in options.items()}}
        return self.ask_line(json.dumps(request).encode())

    def kill(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def end(self):
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


class ServeCase(ProgramCase):
    def serve(self, *more):
        served = Served(*more)
        self.addCleanup(served.kill)
        return served


class Answers(ServeCase):
    def test_are_what_the_commands_print(self):
        served = self.serve()
        for command, options in (("predict", {"top": 3}), ("lens", {}), ("tokens", {}), ("attribute", {}), ("sweep", {}),
                                 ("saliency", {}), ("metrics", {}), ("search", {"top": 5}), ("score", {})):
            words = [part for name, value in options.items() for part in ("--" + name, str(value))]
            printed = self.succeed(command, "--prompt", PROMPT, "--json", *words)
            answer = served.ask(command, prompt=PROMPT, **options)
            self.assertEqual((answer["id"], answer["status"], answer["messages"]), (1, 0, []), answer)
            self.assertEqual(json.dumps(answer["result"]), json.dumps(json.loads(printed)), command)
        for command in ("views", "info"):
            self.assertEqual(served.ask(command)["result"], self.json(command))
        self.assertTrue(served.ask("doctor")["result"]["findings"])
        self.assertEqual(served.end(), (0, b"", b""))

    def test_bad_lines_get_a_sentence_and_the_next_is_served(self):
        served = self.serve()
        for line in (b"x", b"{}", b"[" * 1000000, b"\xff\xfe", b'{"command": "predict", "options": {"prompt": "\xed\xa0\x80"}}',
                     b'{"command": "predict", "options": {"prompt": "x", "threads": 99999999999999999999}}',
                     b'{"command": "predict", "options": {"ids": [1e308]}}', b'{"command": "nothing"}', b'{"command": []}',
                     b'{"command": ["plot", "heatmap"], "options": {"prompt": "x", "out": "-", "format": "png", "size": "60000x60000"}}',
                     b'{"command": "predict", "options": {"prompt": "' + b"word " * 100000 + b'"}}',
                     b'{"command": "tokens", "options": {"prompt-file": "-"}}', b'{"command": "serve"}', b'{"command": ["--prompt", "x"]}'):
            answer = served.ask_line(line)
            self.assertIn(answer["status"], (1, 2), line[:80])
            self.assertRegex(answer["error"], r"\A[^\x00-\x1f]{10,800}\Z")
            self.assertNotIn("result", answer)
        self.assertEqual(served.ask("tokens", prompt="x")["status"], 0)
        self.assertEqual(served.end(), (0, b"", b""))

    def test_models_are_loaded_again_when_their_files_change(self):
        model = self.folder / "model"
        shutil.copytree(TALES, model)
        served = self.serve()
        ask = lambda: served.ask("predict", prompt=PROMPT, model=spelled(model))
        first = ask()
        self.assertEqual(ask(), first)
        weights = bytearray((model / "model.safetensors").read_bytes())
        weights[-40000:] = bytes(40000)
        (model / "model.safetensors").write_bytes(weights)
        os.utime(model / "model.safetensors", ns=(0, 10 ** 18))
        second = ask()
        self.assertNotEqual(second, first)
        self.assertEqual(second["result"], self.json("predict", "--prompt", PROMPT, "--model", model))
        (model / "config.json").unlink()
        self.assertEqual(ask()["status"], 1)

    @only_on_linux("its standard streams have names")
    def test_nothing_but_answers_goes_to_standard_output(self):
        served = self.serve()
        link = self.folder / "x.svg"
        for target in ("/dev/stdout", "/proc/self/fd/1"):
            link.symlink_to(target)
            answer = served.ask(["plot", "heatmap"], prompt="x", out=str(link))
            self.assertEqual(answer["status"], 2, answer)
            self.assertIn("--out -", answer["error"])
            link.unlink()
        self.assertEqual(served.ask("tokens", prompt_file="/dev/stdin")["status"], 2)
        self.assertEqual(served.ask("tokens", prompt="x")["status"], 0)

    @only_on_linux("its standard streams have names")
    def test_no_file_by_their_names_disturbs_requests_and_answers(self):
        figure, link = self.folder / "figure.svg", self.folder / "x.svg"
        self.succeed("plot", "heatmap", "--prompt", "x", "--out", figure)
        link.symlink_to("/dev/stdout")
        served = self.serve()
        drawn = ["plot", "--recipe", str(figure), "--out", str(link)]
        for command, options in ((drawn, {}), ("metrics", {"merge": ["/dev/stdin"]}), (["plot", "sweep"], {"over": "/dev/stdin", "prompt": "x", "out": "-", "format": "svg"}),
                                 ("predict", {"edits": "/dev/stdin", "prompt": "x"}), ("info", {"model": "/dev/stdin"})):
            self.assertIn("status", served.ask(command, **options))
            self.assertEqual(served.ask("tokens", prompt="x")["status"], 0, command)
        self.assertEqual(served.process.stdin.close(), None)
        self.assertEqual((served.process.wait(timeout=60), served.process.stdout.read()), (0, b""))


class Ends(ServeCase):
    def test_at_the_end_of_its_input(self):
        done = run("serve", "--stdio", stdin=b'\n{"command": "tokens", "options": {"prompt": "x"}}')
        self.assertEqual((done.returncode, done.stderr, done.stdout.count(b"\n")), (0, b"", 1))

    def test_when_nobody_reads_its_answers(self):
        served = self.serve()
        served.process.stdout.close()
        served.process.stdin.write(b'{"command": "tokens", "options": {"prompt": "x"}}\n' * 3)
        served.process.stdin.close()
        self.assertEqual(served.process.wait(timeout=60), 1)
        self.assertEqual(served.process.stderr.read(), b"")

    @only_on_linux("signals")
    def test_by_ctrl_c_while_it_waits_and_while_it_works(self):
        served = self.serve()
        self.assertEqual(served.ask("tokens", prompt="x")["status"], 0)
        served.process.send_signal(signal.SIGINT)
        self.assertEqual(served.process.wait(timeout=60), -signal.SIGINT)
        served = self.serve()
        many = "".join(json.dumps(PROMPT * 5) + "\n" for _ in range(2000))
        request = {"command": "trace", "options": {"prompts": "-", "out": str(self.folder / "{n}.safetensors")}, "input": many}
        served.process.stdin.write(json.dumps(request).encode() + b"\n")
        served.process.stdin.flush()
        until(lambda: any(self.folder.iterdir()))
        served.process.send_signal(signal.SIGINT)
        self.assertEqual(served.process.wait(timeout=60), -signal.SIGINT)


if __name__ == "__main__":
    main()
