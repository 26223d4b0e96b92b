"""assets/cluster: the scripts that spread work over machines, the real program; what schedules is done by hand here, but for
GNU parallel where that is installed."""
import importlib
import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

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
        self.whole = self.succeed("metrics", "--json", "--prompts", self.prompts)

    def merged(self):
        return self.succeed("metrics", "--json", "--merge", *sorted(self.parts.glob("part-*.json")))

    @unittest.skipUnless(shutil.which("parallel"), "GNU parallel is not installed")
    def test_parallel(self):
        for shards in ("4", "4"):  # the second time all is there
            done = script("parallel.sh", self.prompts, shards, self.parts)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.parts / "metrics.json").read_bytes(), self.whole)
        self.assertEqual(sorted(path.name for path in self.parts.iterdir()),
                         ["asked", "metrics.json", *(f"part-{i}-of-4.json" for i in range(4))])
        for other in (("3", self.parts), ("4", self.parts, "--bos")):
            done = script("parallel.sh", self.prompts, *other)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"name another folder", done.stderr)

    def test_slurm_tasks(self):
        for task in range(3):
            done = script("slurm.sh", self.prompts, "3", self.parts, SLURM_ARRAY_TASK_ID=str(task), SLURM_ARRAY_TASK_COUNT="1",
                          SLURM_JOB_ID=str(100 + task), SLURM_CPUS_PER_TASK="1")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.merged(), self.whole)

    def module(self, name):
        try:
            return importlib.import_module(name)
        except ImportError:
            self.skipTest(f"{name} is not installed")

    def test_kubernetes_pods(self):
        yaml = self.module("yaml")
        job = yaml.safe_load((CLUSTER / "kubernetes.yaml").read_text())
        self.assertEqual((job["apiVersion"], job["kind"], job["spec"]["completionMode"]), ("batch/v1", "Job", "Indexed"))
        pods = job["spec"]["completions"]
        container = job["spec"]["template"]["spec"]["containers"][0]
        self.assertEqual(container["volumeMounts"][0]["name"], job["spec"]["template"]["spec"]["volumes"][0]["name"])
        self.parts.mkdir()
        shutil.copy(self.prompts, self.parts / "prompts.jsonl")
        text = container["args"][0].replace("/data", str(self.parts).replace(" ", r"\ ")).replace("headscope ", f"{HEADSCOPE} ")
        self.assertIn(f"/{pods}\"", text)
        for pod in range(pods):
            done = subprocess.run([*container["command"], text], stderr=subprocess.PIPE, timeout=300,
                                  env={**os.environ, "JOB_COMPLETION_INDEX": str(pod)})
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.merged(), self.whole)


if __name__ == "__main__":
    main()
