"""assets/cluster: the scripts that spread work over machines, the real program; what schedules is done by hand here, but for
GNU parallel where that is installed."""
import importlib
import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

import numpy as np

from program import HEADSCOPE, ProgramCase, main

CLUSTER = Path(__file__).resolve().parents[2] / "assets/cluster"
PROMPTS = ["one two one two", "three", "four and five", "six six six", "seven", "eight nine eight"]


def script(name, *arguments, **environment):
    return subprocess.run(["bash", CLUSTER / name, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                          env={**os.environ, "HEADSCOPE": str(HEADSCOPE), **environment})


class Cluster(ProgramCase):
    def setUp(self):
        super().setUp()
        self.prompts = self.folder / "prompts.jsonl"
        self.prompts.write_text("".join(json.dumps(prompt) + "\n" for prompt in PROMPTS))
        self.parts = self.folder / "parts of it"
        self.whole = self.json("attribute", "--prompts", self.prompts, "--mean")

    def assert_is_whole(self, merged):
        for name, cells in self.whole["columns"].items():
            if isinstance(cells[0], str):
                self.assertEqual(merged["columns"][name], cells)
            else:
                np.testing.assert_allclose(np.array(merged["columns"][name], float), np.array(cells, float), atol=1e-9)
        self.assertEqual(merged["facts"]["prompts"], len(PROMPTS))

    def assert_parts_are_whole(self):
        self.assert_is_whole(self.json("attribute", "--merge", *sorted(self.parts.glob("part-*.json"))))

    @unittest.skipUnless(shutil.which("parallel"), "GNU parallel is not installed")
    def test_parallel(self):
        for _ in range(2):  # the second time all is there
            done = script("parallel.sh", "4", self.parts, "attribute", "--prompts", self.prompts)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_is_whole(json.loads((self.parts / "means.json").read_text()))
        self.assertEqual(sorted(path.name for path in self.parts.iterdir()),
                         ["means.json", *(f"part-{i}-of-4.json" for i in range(4))])

    def test_slurm_tasks(self):
        for task in range(3):
            done = script("slurm.sh", "3", self.parts, "attribute", "--prompts", self.prompts, SLURM_ARRAY_TASK_ID=str(task))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_parts_are_whole()

    def test_kubernetes_pods(self):
        try:
            yaml = importlib.import_module("yaml")
        except ImportError:
            self.skipTest("yaml is not installed")
        job = yaml.safe_load((CLUSTER / "kubernetes.yaml").read_text())
        self.assertEqual((job["apiVersion"], job["kind"], job["spec"]["completionMode"]), ("batch/v1", "Job", "Indexed"))
        pods = job["spec"]["completions"]
        container = job["spec"]["template"]["spec"]["containers"][0]
        self.assertEqual(container["volumeMounts"][0]["name"], job["spec"]["template"]["spec"]["volumes"][0]["name"])
        self.parts.mkdir()
        shutil.copy(self.prompts, self.parts / "prompts.jsonl")
        text = container["args"][0].replace("/data/prompts.jsonl", "prompts.jsonl").replace("/data/", "")
        self.assertIn(f"/{pods}\"", text)
        for pod in range(pods):
            done = subprocess.run([*container["command"], text.replace("headscope ", f"{HEADSCOPE} ")], cwd=self.parts,
                                  stderr=subprocess.PIPE, timeout=300, env={**os.environ, "JOB_COMPLETION_INDEX": str(pod)})
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_parts_are_whole()


if __name__ == "__main__":
    main()
