"""headscope_yardsticks and report.py, the real programs; HEADSCOPE is headscope_yardsticks here."""
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from program import HEADSCOPE, ProgramCase, main, run


def report(*arguments):
    return subprocess.run([sys.executable, HERE / "report.py", "--program", HEADSCOPE, "--tokens", "8", *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


class Yardsticks(ProgramCase):
    def test_passes_and_products_beside_what_the_machine_can_do(self):
        measured = json.loads(self.succeed("--tokens", "64,8", "--products", "--sweep", "--threads", "2"))
        self.assertEqual(measured["threads"], 2)
        self.assertIn("Eigen", measured["peers"][0])
        for value in measured["machine"].values():
            self.assertGreater(value, 0)
        few, many = measured["runs"]
        for key in ("pass_all_logits_of_peak_arithmetic", "one_more_token_of_read_bandwidth"):
            self.assertGreater(few[key], 0)
        for row in (few, many):
            self.assertGreater(row["head_sweep_of_peak_arithmetic"], 0)
        self.assertEqual(("pass_of_limit" in few, "pass_of_products" in few), (True, False))
        self.assertEqual(("pass_of_limit" in many, "pass_of_products" in many), (False, True))
        self.assertEqual([entry["tokens"] for entry in measured["products"]], [1] * 5 + [16] * 5 + [64] * 5 + [256] * 5)
        openblas = len(measured["peers"]) == 2
        for entry in measured["products"]:
            self.assertEqual("openblas_gflop_per_s" in entry, openblas)
            self.assertGreater(entry["of_faster_peer"], 0)

    def test_peers_are_left_alone_where_nothing_is_held_against_them(self):
        self.assertEqual(json.loads(self.succeed("--tokens", "8"))["peers"], [])

    def test_errors_are_one_sentence(self):
        for status, arguments in ((1, ["--tokens", "4096"]), (2, ["--tokens", "eight"]), (1, ["--model", "/nowhere/at/all"])):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (status, b""), done.stderr)
            self.assertRegex(done.stderr.decode(), r"\Aheadscope_yardsticks: [^\n]{10,800}\n\Z")


class Report(ProgramCase):
    def test_the_tables(self):
        out = self.folder / "report.json"
        done = report("--precision", "f32,bf16", "--ui", "--out", out)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual([measured["precision"] for measured in json.loads(out.read_text())], ["f32", "bf16"])
        self.assertIn("| tokens | last logits | all logits | all maps |", done.stdout.decode())
        self.assertIn("| tokens | typed at the end |", done.stdout.decode())

    def test_says_what_went_wrong(self):
        for arguments in (["--model", "/nowhere/at/all"], ["--program", "/nowhere/headscope"], ["--out", "/nowhere/report.json"]):
            done = report(*arguments)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr.decode(), r"\Areport\.py: [^\n]*/nowhere[^\n]*\n\Z")


if __name__ == "__main__":
    main()
