"""`get` and `--get` against a hub on the loopback."""
import hashlib
import os
import signal
import subprocess

from hub import NAME, HubCase
from program import HEADSCOPE, PROMPT, TALES, main, only_on_linux, spelled, until


class Get(HubCase):
    def test_brings_a_model_that_all_commands_find(self):
        self.assertIn("headscope get " + NAME,
                      self.fail_with(1, "predict", "--model", NAME, "--prompt", PROMPT, env=self.env, contains=["neither"]))
        self.assertEqual(self.succeed("get", NAME, env=self.env, notes=True), f"{spelled(self.snapshot)}\n".encode())
        self.assertEqual(self.succeed("get", NAME, env=self.env), f"{spelled(self.snapshot)}\n".encode(), "nothing to tell")
        for name in (NAME, NAME + "@main", "tiny-tales"):
            self.assertEqual(self.json("info", "--model", name, env=self.env)["folder"], spelled(self.snapshot))
        offline = {**self.env, "HF_HUB_OFFLINE": "1", "HF_ENDPOINT": "http://127.0.0.1:1"}
        self.assertEqual(self.succeed("get", NAME, env=offline), f"{spelled(self.snapshot)}\n".encode())

    def test_get_before_a_command(self):
        first = self.succeed("predict", "--model", NAME, "--get", "--prompt", PROMPT, env=self.env, notes=True)
        count = len(self.server.asked)
        self.assertEqual(self.succeed("predict", "--model", NAME, "--get", "--prompt", PROMPT, env=self.env), first)
        self.assertEqual(len(self.server.asked), count, "what is here is not asked for")
        self.assertEqual(self.succeed("predict", "--model", TALES, "--get", "--prompt", PROMPT), first)

    @only_on_linux("signals")
    def test_an_interrupted_one_goes_on(self):
        weights = self.server.files["model.safetensors"]
        self.server.stall_after = len(weights) // 2
        process = subprocess.Popen([HEADSCOPE, "get", NAME], env={**os.environ, **self.env}, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.assertTrue(self.server.stalled.wait(60))
        part = self.model / "blobs" / (hashlib.sha256(weights).hexdigest() + ".incomplete")
        until(lambda: part.exists() and part.stat().st_size)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (-signal.SIGINT, b""))
        self.assertIn(b"resumes it", err)
        self.assertFalse((self.snapshot / "config.json").exists(), "nobody takes it for a model")
        came = part.stat().st_size

        self.server.stall_after = None
        self.succeed("get", NAME, env=self.env, notes=True)
        ranges = [headers["Range"] for _, _, headers in self.server.asked if "Range" in headers]
        self.assertEqual(ranges[-1], f"bytes={came}-")
        self.assertEqual((self.snapshot / "model.safetensors").read_bytes(), weights)


if __name__ == "__main__":
    main()
