"""`get` and `--get` against a hub on the loopback."""
from hub import NAME, HubCase
from program import PROMPT, TALES, main, spelled


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


if __name__ == "__main__":
    main()
