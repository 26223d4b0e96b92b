"""generate: what a terminal is shown."""
import os
import subprocess

from program import HEADSCOPE, ProgramCase, main


class Generate(ProgramCase):
    def on_a_terminal(self, *arguments):
        """What a terminal shows for both streams, with the newlines it was sent."""
        master, terminal = self.pseudo_terminal()
        self.addCleanup(os.close, master)
        try:
            subprocess.run([HEADSCOPE, *map(os.fsencode, arguments)], stdout=terminal, stderr=terminal,
                           stdin=subprocess.DEVNULL, timeout=120)
        finally:
            os.close(terminal)
        shown = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # so does Linux say that the other end is closed
                return shown.replace(b"\r\n", b"\n")
            if not part:
                return shown.replace(b"\r\n", b"\n")
            shown += part

    def test_a_line_ends_on_a_terminal_alone(self):
        given = ["generate", "--prompt", "Once upon a", "--tokens", "4", "--temperature", "0"]
        piped = self.succeed(*given)
        self.assertFalse(piped.endswith(b"\n"))
        self.assertEqual(self.on_a_terminal(*given), piped + b"\n")
        nothing = ["generate", "--tokens", "0", "--echo"]
        for prompt, shown in (("a", b"a\n"), ("a\n", b"a\n"), ("", b"")):
            self.assertEqual(self.on_a_terminal(*nothing, "--prompt", prompt), shown)


if __name__ == "__main__":
    main()
