"""A private X server, and the window in it."""
import os
import subprocess

from program import HEADSCOPE, until


class Screen:
    def __init__(self, *options):
        end, other = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(other), "-screen", "0", "1700x1100x24", "-noreset", "-nolisten",
                                        "tcp", *options], pass_fds=[other], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(other)
        with os.fdopen(end) as number:
            self.display = ":" + number.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.kill()
        self.server.wait()

    def tool(self, *words):
        return subprocess.run(["xdotool", *words], env={**os.environ, "DISPLAY": self.display}, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=60).stdout.decode().split()

    def start(self, *arguments, env=None, cwd=None):
        """The program, once its window is open or it has ended."""
        environment = {**os.environ, "DISPLAY": self.display, "MESA_SHADER_CACHE_DISABLE": "true", **(env or {})}
        process = subprocess.Popen([HEADSCOPE, *map(str, arguments)], env=environment, cwd=cwd, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        until(lambda: process.poll() is not None or self.windows())
        return process

    def windows(self):
        return self.tool("search", "--onlyvisible", "--name", "^headscope$")

    def keys(self, *keys):
        for window in self.windows():
            self.tool("windowfocus", "--sync", window)
        self.tool("key", *keys)

    def click(self, x, y):
        """The left button at a place of the window."""
        for window in self.windows():
            self.tool("mousemove", "--window", window, str(x), str(y), "click", "1")


def end_of(process):
    """Exit status and messages, once the program has ended."""
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err.decode("utf-8", "replace")
