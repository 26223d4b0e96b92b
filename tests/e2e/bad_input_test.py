"""A signal leaves no partial files."""
import os
import signal
import subprocess
from pathlib import Path

from program import HEADSCOPE, ProgramCase, main, only_on_linux, random_model, until


def is_writing(process, folder):
    """Whether the process has an open file in the folder, which may have no name until it is complete."""
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        try:
            if os.readlink(descriptor).startswith(f"{folder}/"):
                return True
        except OSError:
            pass  # closed meanwhile
    return False


class Output(ProgramCase):
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
