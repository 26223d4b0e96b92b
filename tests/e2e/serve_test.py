"""headscope serve: the real program answers requests line by line, and ends as it should."""
import json
import signal
import subprocess

from program import HEADSCOPE, PROMPT, ProgramCase, main, only_on_linux, passed, run, until


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
