"""tokens, predict, predictions, generate: their output, compared with the float64 reference and the input bytes."""
import json
import os
import shutil
import subprocess

import numpy as np

from program import CONFIG, END_OF_TEXT, HEADSCOPE, ON_WINDOWS, PROMPT, TALES, ProgramCase, main, run, text_of  # first: it finds the reference
import gpt2_reference

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


class Predictions(ProgramCase):
    @classmethod
    def setUpClass(cls):
        cls.text = json.loads(run("tokens", "--prompt", PROMPT, "--json").stdout)["columns"]["id"]
        cls.logits = gpt2_reference.run_folder(TALES, cls.text)["logits"]
        cls.probabilities = gpt2_reference.softmax(cls.logits)

    def test_of_the_next_token_are_what_the_reference_computes(self):
        columns = self.json("predict", "--prompt", PROMPT, "--count", "7")["columns"]
        best = np.argsort(-self.logits[-1], kind="stable")[:7]
        np.testing.assert_allclose(columns["logit"], self.logits[-1][best], rtol=0, atol=1e-3)
        np.testing.assert_allclose(columns["logit"], self.logits[-1][columns["id"]], rtol=0, atol=1e-3)
        np.testing.assert_allclose(columns["probability"], self.probabilities[-1][columns["id"]], rtol=0, atol=1e-4)

    def test_of_all_positions_are_what_the_reference_computes(self):
        answer = self.json("predictions", "--prompt", PROMPT)
        columns, last = answer["columns"], len(self.text) - 1
        self.assertEqual((columns["position"], columns["id"]), (list(range(last + 1)), self.text))
        self.assertEqual(columns["next id"], [*self.text[1:], None])
        for position, actual in enumerate(self.text[1:]):
            logits, probability = self.logits[position], self.probabilities[position][actual]
            self.assertAlmostEqual(columns["probability"][position], probability, delta=1e-4)
            self.assertAlmostEqual(columns["loss"][position], -np.log2(probability), delta=1e-3)
            better = np.sum(logits > logits[actual] + 2e-3)
            close = np.sum(np.abs(logits - logits[actual]) <= 2e-3)
            self.assertTrue(better < columns["rank"][position] <= better + close, "ranks start at 1")
            guess = columns["guess 1 id"][position]
            self.assertAlmostEqual(logits[guess], logits.max(), delta=1e-3)
        self.assertAlmostEqual(answer["facts"]["mean loss"], np.mean(columns["loss"][:-1]), delta=1e-6)

    def test_are_the_same_however_they_are_asked_for(self):
        expected = self.succeed("predict", "--prompt", PROMPT)
        file = self.folder / "prompt.txt"
        file.write_text(PROMPT)
        ids = ",".join(map(str, self.text))
        for way in (["--ids", ids], ["--prompt-file", file], ["--prompt=" + PROMPT], ["--prompt", PROMPT, "--threads", "1"],
                    ["--prompt", PROMPT, "--threads", "3"], ["--model", TALES, "--prompt", PROMPT]):
            self.assertEqual(self.succeed("predict", *way), expected, way)
        empty = self.succeed("predict", "--prompt", "")
        self.assertEqual(empty, self.succeed("predict", "--prompt", END_OF_TEXT))
        self.assertEqual(empty, self.succeed("predict", "--ids", ""))


class Generate(ProgramCase):
    def test_greedy_is_the_best_token_again_and_again(self):
        ids, expected = self.ids("Once upon a"), b""
        for _ in range(12):
            best = self.json("predict", "--ids", ",".join(map(str, ids)), "--count", "1")["columns"]
            ids += best["id"]
            expected += bytes.fromhex(best["bytes"][0])
        greedy = self.succeed("generate", "--prompt", "Once upon a", "--tokens", "12", "--temperature", "0")
        self.assertEqual(greedy, expected)
        self.assertEqual(self.succeed("generate", "--prompt", "Once upon a", "--tokens", "12", "--top-k", "1"), expected)
        self.assertEqual(self.succeed("generate", "--prompt", "Once upon a", "--tokens", "12", "--temperature", "0", "--echo"),
                         b"Once upon a" + expected)

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
