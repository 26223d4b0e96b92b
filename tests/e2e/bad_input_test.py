"""Input without an end, and output that cannot be written: one sentence, no partial files."""
import os
import signal
import subprocess
from pathlib import Path

from program import HEADSCOPE, PROMPT, ProgramCase, main, only_on_linux, random_model, run, until  # first: it finds the reference


def is_writing(process, folder):
    """Whether the process has an open file in the folder, which may have no name until it is complete."""
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        try:
            if os.readlink(descriptor).startswith(f"{folder}/"):
                return True
        except OSError:
            pass  # closed meanwhile
    return False


class Input(ProgramCase):
    @only_on_linux("devices without an end")
    def test_files_without_an_end_are_named(self):
        for device in ("/dev/urandom", "/dev/zero"):
            for option in ("--edits", "--prompt-file", "--prompts", "--mean-over"):
                given = [] if "prompt" in option else ["--prompt", "x", "--edit", "L0H0.z=mean"]
                message = self.fail_with(1, "predict", *given, option, device, contains=device)
                self.assertRegex(message, "at most|:1: ")


class Output(ProgramCase):
    def writers(self, png, safetensors):
        return (["heatmap", "--prompt", PROMPT, "--out", png], ["trace", "--prompt", PROMPT, "--out", safetensors])

    def test_paths_that_cannot_be_written(self):
        taken = self.folder / "taken.png"
        taken.mkdir()
        for folder in (self.folder / "missing", "/proc", taken / "x"):
            for command in self.writers(f"{folder}/a.png", f"{folder}/a.safetensors"):
                self.fail_with(1, *command, contains="cannot write")
        taken_tensors = self.folder / "taken.safetensors"
        taken_tensors.mkdir()
        for command in self.writers(taken, taken_tensors):
            self.fail_with(1, *command, contains="cannot write")

    @only_on_linux("/dev/full")
    def test_a_full_disk(self):
        for name in ("full.png", "full.svg", "full.csv", "full.safetensors"):
            (self.folder / name).symlink_to("/dev/full")
        for command in self.writers(self.folder / "full.png", self.folder / "full.safetensors"):
            self.fail_with(1, *command, contains="No space left")
        for arguments in (["predict", "--prompt", "x"], ["tokens", "--prompt", "x", "--json"], ["--help"], ["info"],
                          ["generate", "--prompt", "x"], ["views"]):
            with open("/dev/full", "wb") as full:
                done = run(*arguments, stdout=full)
            self.assertEqual(done.returncode, 1)
            self.assertIn("No space left", self.sentence(done.stderr))

    @only_on_linux("limits of a process's files")
    def test_a_file_size_limit_leaves_nothing(self):
        for command in self.writers(self.folder / "a.png", self.folder / "a.safetensors"):
            limited = ["bash", "-c", 'ulimit -f 8; exec "$@"', "bash", HEADSCOPE, *map(str, command)]
            done = subprocess.run(limited, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot write", self.sentence(done.stderr))
            self.assertEqual(list(self.folder.iterdir()), [])

    @only_on_linux("signals")
    def test_a_signal_leaves_nothing(self):
        model = random_model(self.folder / "model", layers=2, heads=4, d_model=16, ctx=3000)
        out = self.folder / "out"
        out.mkdir()
        ids = ",".join(["7"] * 3000)
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([HEADSCOPE, "trace", "--model", model, "--ids", ids, "--out", out / "a.safetensors"],
                                       stderr=subprocess.PIPE)
            until(lambda: process.poll() is not None or is_writing(process.pid, out))
            process.send_signal(number)
            self.assertEqual(process.stderr.read(), b"")
            process.stderr.close()
            self.assertEqual(process.wait(60), -number)
            self.assertEqual(list(out.iterdir()), [])


if __name__ == "__main__":
    main()
