"""tokens, generate: any bytes, however they are given, and what a terminal is shown."""
import os
import subprocess

from program import END_OF_TEXT, HEADSCOPE, ON_WINDOWS, ProgramCase, main, text_of

HOSTILE_PROMPTS = [
    b"", b" ", b"\n\n\t ", "h\u00e9llo \u4e16\u754c \U0001f642\u200d\U0001f600 e\u0301".encode(), b"\xff\xfe\xe2\x82 \x80", b"--help", b"-", b"{}", b"%s%n",
    b"\x01\x1b[31m\x7f", END_OF_TEXT.encode(), b"a <|endoftext|> b", b"'s 'll 123 !!!", b"\xed\xa0\x80\xc0\xaf",
]


def is_text(prompt):
    """Whether an argument can have these bytes on Windows, whose arguments are UTF-16."""
    try:
        prompt.decode()
    except UnicodeDecodeError:
        return False
    return True


class Tokens(ProgramCase):
    def test_any_bytes_come_back(self):
        for number, prompt in enumerate(HOSTILE_PROMPTS):
            file = self.folder / f"prompt-{number}"
            file.write_bytes(prompt)
            ways = [self.json("tokens", "--prompt-file", file), self.json("tokens", "--prompt-file", "-", stdin=prompt)]
            if not ON_WINDOWS or is_text(prompt):
                ways.append(self.json("tokens", "--prompt", prompt))
            for way in ways:
                self.assertEqual(way, ways[0])
            if prompt:  # else the start token is run
                columns = ways[0]["columns"]
                self.assertEqual(text_of(ways[0]), prompt)
                self.assertEqual(columns["start"], [0, *columns["end"][:-1]])
                self.assertEqual(columns["end"][-1], len(prompt))


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
