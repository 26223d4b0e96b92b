"""headscope serve: the real program answers requests line by line, as the commands print, and ends as it should."""
import base64
import json
import os
import shutil
import signal
import subprocess

from program import HEADSCOPE, PROMPT, TALES, ProgramCase, main, only_on_linux, passed, png_size, run, until


class Served:
    """A running `headscope serve`."""

    def __init__(self, *more):
        self.process = subprocess.Popen([HEADSCOPE, "serve", "--stdio", *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def ask_line(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline().decode("utf-8", "strict"))

    def ask(self, *args, **more):
        return self.ask_line(json.dumps({"id": 1, "args": [passed(word) for word in args], **more}).encode())

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
        for words in (["lens", "--prompt", PROMPT, "--json"], ["heatmap", "--prompt", PROMPT, "--out", "-", "--format", "svg"], ["info"]):
            answer = served.ask(*words)
            self.assertEqual((answer["id"], answer["status"], answer["messages"]), (1, 0, []), words)
            self.assertEqual(answer["text"].encode(), self.succeed(*words), words)
        png = served.ask("heatmap", "--prompt", "x", "--out", "-", "--format", "png")
        png_size(base64.b64decode(png["base64"]))
        self.assertEqual(served.end(), (0, b"", b""))

    def test_bad_lines_get_a_sentence_and_the_next_is_served(self):
        served = self.serve()
        asked = lambda *args: json.dumps({"args": args}).encode()
        for line in (b"x", b"{}", b"[" * 1000000, b"\xff\xfe", b'{"args": ["predict", "--prompt", "\xed\xa0\x80"]}', b'{"args": []}',
                     b'{"args": ["predict", 5]}', asked("predict", "--prompt", "x", "--threads", "99999999999999999999"),
                     asked("predict", "--ids", "1e308"), asked("nothing"), asked("serve", "--stdio"), asked("--prompt", "x"),
                     asked("heatmap", "--prompt", "x", "--out", "-", "--format", "png", "--size", "60000x60000"),
                     asked("predict", "--prompt", "word " * 100000), asked("tokens", "--prompt-file", "-")):
            answer = served.ask_line(line)
            self.assertIn(answer["status"], (1, 2), line[:80])
            self.assertRegex(answer["error"], r"\A[^\x00-\x1f]{10,800}\Z")
            self.assertEqual(answer["text"], "")
        self.assertEqual(served.ask("tokens", "--prompt", "x")["status"], 0)
        self.assertEqual(served.end(), (0, b"", b""))

    def test_models_are_loaded_again_when_their_files_change(self):
        model = self.folder / "model"
        shutil.copytree(TALES, model)
        served, words = self.serve(), ["predict", "--prompt", PROMPT, "--model", model]
        first = served.ask(*words)
        self.assertEqual(served.ask(*words), first)
        weights = bytearray((model / "model.safetensors").read_bytes())
        weights[-40000:] = bytes(40000)
        (model / "model.safetensors").write_bytes(weights)
        os.utime(model / "model.safetensors", ns=(0, 10 ** 18))
        second = served.ask(*words)
        self.assertNotEqual(second, first)
        self.assertEqual(second["text"].encode(), self.succeed(*words))
        (model / "config.json").unlink()
        self.assertEqual(served.ask(*words)["status"], 1)

    @only_on_linux("its standard streams have names")
    def test_no_file_by_their_names_disturbs_requests_and_answers(self):
        figure, link = self.folder / "figure.svg", self.folder / "x.svg"
        self.succeed("heatmap", "--prompt", "x", "--out", figure)
        served = self.serve()
        for target in ("/dev/stdout", "/proc/self/fd/1"):
            link.symlink_to(target)
            for given in (["--prompt", "x"], ["--recipe", figure]):
                answer = served.ask("heatmap", *given, "--out", link)
                self.assertEqual(answer["status"], 2, answer)
                self.assertIn("--out -", answer["error"])
            link.unlink()
        self.assertEqual(served.ask("tokens", "--prompt-file", "/dev/stdin")["status"], 2)
        for words in (["metrics", "--merge", "/dev/stdin"], ["sweep", "--over", "/dev/stdin", "--json"], ["info", "--model", "/dev/stdin"],
                      ["predict", "--edits", "/dev/stdin", "--prompt", "x"]):
            self.assertIn("status", served.ask(*words))
            self.assertEqual(served.ask("tokens", "--prompt", "x")["status"], 0, words)
        self.assertEqual(served.end(), (0, b"", b""))


class Ends(ServeCase):
    def test_at_the_end_of_its_input(self):
        done = run("serve", "--stdio", stdin=b'\n{"args": ["tokens", "--prompt", "x"]}')
        self.assertEqual((done.returncode, done.stderr, done.stdout.count(b"\n")), (0, b"", 1))

    def test_when_nobody_reads_its_answers(self):
        served = self.serve()
        served.process.stdout.close()
        served.process.stdin.write(b'{"args": ["tokens", "--prompt", "x"]}\n' * 3)
        served.process.stdin.close()
        self.assertEqual(served.process.wait(timeout=60), 1)
        self.assertEqual(served.process.stderr.read(), b"")

    @only_on_linux("signals")
    def test_by_ctrl_c_while_it_waits_and_while_it_works(self):
        served = self.serve()
        self.assertEqual(served.ask("tokens", "--prompt", "x")["status"], 0)
        served.process.send_signal(signal.SIGINT)
        self.assertEqual(served.process.wait(timeout=60), -signal.SIGINT)
        served = self.serve()
        many = "".join(json.dumps(PROMPT * 5) + "\n" for _ in range(2000))
        request = {"args": ["trace", "--prompts", "-", "--out", str(self.folder / "{n}.safetensors")], "input": many}
        served.process.stdin.write(json.dumps(request).encode() + b"\n")
        served.process.stdin.flush()
        until(lambda: any(self.folder.iterdir()))
        served.process.send_signal(signal.SIGINT)
        self.assertEqual(served.process.wait(timeout=60), -signal.SIGINT)


if __name__ == "__main__":
    main()
