"""`get` and `--get` against a hub on the loopback; by HTTPS with certificates that are not trusted, and one that the user trusts."""
import shutil
import socket
import ssl
import subprocess
import unittest

from hub import NAME, HubCase
from program import PROMPT, TALES, main, only_on_linux, spelled


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


@unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
class Https(HubCase):
    def setUp(self):
        super().setUp()
        self.own = self.certificate("own", "/CN=An authority of the test", "CA:TRUE")
        self.other = self.certificate("other", "/CN=Another authority", "CA:TRUE")
        self.signed = self.certificate("signed", "/CN=localhost", "CA:FALSE", by=self.own)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{self.signed}.pem", f"{self.signed}.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.server.handle_error = lambda *_: None  # of a client that goes away
        self.env |= {"REQUESTS_CA_BUNDLE": "", "CURL_CA_BUNDLE": "", "SSL_CERT_FILE": ""}
        self.env["HF_ENDPOINT"] = f"https://localhost:{self.server.server_port}"
        self.env["no_proxy"] = "localhost"

    def certificate(self, name, subject, constraints, by=None):
        path = self.folder / name
        signer = ["-CA", f"{by}.pem", "-CAkey", f"{by}.key"] if by else []
        subprocess.run(["openssl", "req", "-config", "/dev/null", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-subj", subject, "-days", "30", "-addext", f"basicConstraints=critical,{constraints}",
                        "-addext", "subjectAltName=DNS:localhost", "-addext", "subjectKeyIdentifier=hash", *signer,
                        "-keyout", f"{path}.key", "-out", f"{path}.pem"], check=True, capture_output=True, timeout=60)
        return path

    def refused(self, env):
        message = self.fail_with(1, "get", NAME, env=env, contains=["localhost"])
        self.assertRegex(message.lower(), "certificate|trust")
        self.assertEqual(self.server.asked, [], "nothing was asked over it, a token least of all")
        self.assertFalse(self.snapshot.exists())

    @only_on_linux("Wine's Schannel takes any certificate that it is to check by itself")
    def test_one_that_the_system_does_not_trust_is_refused(self):
        self.refused(self.env)

    def test_one_that_the_user_does_not_trust_is_refused(self):
        self.refused({**self.env, "SSL_CERT_FILE": spelled(f"{self.other}.pem")})

    def test_one_of_another_host_is_refused(self):
        self.env["HF_ENDPOINT"] = self.env["HF_ENDPOINT"].replace("localhost", "127.0.0.1")
        self.fail_with(1, "get", NAME, env={**self.env, "no_proxy": "127.0.0.1", "SSL_CERT_FILE": spelled(f"{self.own}.pem")},
                       contains=["127.0.0.1"])
        self.assertEqual(self.server.asked, [])

    def test_one_that_the_user_trusts_is_taken(self):
        env = {**self.env, "SSL_CERT_FILE": spelled(f"{self.own}.pem")}
        self.assertEqual(self.succeed("get", NAME, env=env, notes=True), f"{spelled(self.snapshot)}\n".encode())
        for name, content in self.server.files.items():
            if (self.snapshot / name).exists():
                self.assertEqual((self.snapshot / name).read_bytes(), content)
        self.assertTrue((self.snapshot / "model.safetensors").exists())

    def test_a_redirect_to_http_is_not_followed(self):
        with socket.create_server(("127.0.0.1", 0)) as plain:
            self.server.moved = f"http://127.0.0.1:{plain.getsockname()[1]}"
            self.fail_with(1, "get", NAME, env={**self.env, "SSL_CERT_FILE": spelled(f"{self.own}.pem")}, contains=["localhost"])
            plain.setblocking(False)
            self.assertRaises(BlockingIOError, plain.accept)
        self.assertEqual(len(self.server.asked), 1)


if __name__ == "__main__":
    main()
