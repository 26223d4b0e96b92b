"""headscope from Python: see inside GPT-2, with numbers as numpy arrays and figures in the notebook.

    from headscope import Headscope

    with Headscope() as hs:
        answer = hs.predict("Once upon a time", top=5)
        traced = hs.trace("Once upon a time", hooks="blocks.*.attn.hook_pattern")
        hs.plot("heatmap", "Once upon a time", layer=2, head=1)

One file that needs numpy alone: install it with headscope, or copy it to where you work. It starts the program once, as
`headscope serve --stdio`, which keeps models loaded, so that a call takes milliseconds. The options of a call are those of the command
(`headscope predict --help`), with `_` for `-`: `all_positions=True`, and `from_` for the option `from`.
"""
import base64
import json
import os
import shutil
import struct
import subprocess
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np

__all__ = ["Headscope", "HeadscopeError", "HeadscopeWarning", "Figure", "read_safetensors"]


class HeadscopeError(RuntimeError):
    """What the program says is wrong, one sentence. `status` is its exit status: 1 it failed, 2 wrong usage, None it has ended."""

    def __init__(self, sentence, status=None):
        super().__init__(sentence)
        self.status = status


class HeadscopeWarning(UserWarning):
    """What the program says about an answer that it gives all the same."""


class Figure:
    """A figure as the bytes of its file; a notebook shows it."""

    def __init__(self, data, format, scale=1):
        self.data, self.format, self._scale = data, format, scale

    def save(self, path):
        Path(path).write_bytes(self.data)

    def _repr_png_(self):
        if self.format != "png":
            return None
        width = struct.unpack(">I", self.data[16:20])[0]  # in the header that every PNG begins with
        return self.data, {"width": round(width / self._scale)}

    def _repr_svg_(self):
        return self.data.decode("utf-8") if self.format == "svg" else None

    def __repr__(self):
        return f"<Figure: {self.format}, {len(self.data):,} bytes>"


def read_safetensors(path):
    """The tensors of a file that `trace` has written, as arrays by name."""
    data = Path(path).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    types = {"F32": "<f4", "I64": "<i8"}
    tensors = {}
    for name, tensor in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in tensor["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], types[tensor["dtype"]]).reshape(tensor["shape"])
    return tensors


def _program():
    """The program to start: $HEADSCOPE, the one that this file was installed with, or the one on the path."""
    if os.environ.get("HEADSCOPE"):
        return os.environ["HEADSCOPE"]
    name = "headscope.exe" if os.name == "nt" else "headscope"
    for folder in list(Path(__file__).resolve().parents)[:5]:  # share/headscope/python, or assets/python of the sources
        for place in ("bin", "build/app", "Contents/MacOS", "."):
            if (folder / place / name).is_file():
                return str(folder / place / name)
    found = shutil.which(name)
    if found is None:
        raise HeadscopeError("headscope was not found: install it, set the variable HEADSCOPE, or name the program")
    return found


def _plain(value):
    """An option's value as JSON."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple, range)):
        return [_plain(item) for item in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _shape(value):
    """The shape of nested lists whose ends are all numbers or None; None for anything else."""
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return ()
    if not isinstance(value, list) or not value:
        return None
    shapes = {_shape(item) for item in value}
    return (len(value), *shapes.pop()) if len(shapes) == 1 and None not in shapes else None


def _with_arrays(value):
    """An answer with its lists of numbers as arrays (None as NaN), and lists of bytes as bytes."""
    if isinstance(value, dict):
        return {key: bytes(item) if key == "bytes" and isinstance(item, list) else _with_arrays(item)
                for key, item in value.items()}
    if not isinstance(value, list):
        return value
    if _shape(value):
        array = np.array(value)
        return array.astype(float) if array.dtype == object else array
    return [_with_arrays(item) for item in value]


class Headscope:
    """The program, running. `model`, `precision` and `threads` are those of all calls that do not say otherwise; `memory` is how many MiB
    of models stay loaded. Use it in a `with`, or call `close`. Calls from several threads come one after another."""

    def __init__(self, model=None, *, precision=None, threads=None, memory=None, program=None):
        self._options = {name: value for name, value in
                         (("model", model), ("precision", precision), ("threads", threads)) if value is not None}
        self._command = [os.fspath(program or _program()), "serve", "--stdio"]
        if memory is not None:
            self._command += ["--memory", str(memory)]
        self._lock = threading.Lock()
        self._process = self._errors = None
        self._count = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_process", None) is not None:
            self._end()

    def close(self):
        """Ends the program. A later call starts it again."""
        with self._lock:
            self._end()

    # ---- any command ----

    def run(self, *command, prompts=None, input=None, **options):
        """Runs a command with its options: `run("sweep", prompt="The cat", metric="kl")`. Returns what it prints: JSON as dicts with
        arrays, a Figure, or text. `prompts`, a list of texts or of lists of ids, gives a list of answers; so does the name of a file."""
        options = {name.rstrip("_").replace("_", "-"): _plain(value) for name, value in options.items() if value is not None}
        if prompts is not None and not isinstance(prompts, (str, os.PathLike)):
            lines = [prompt if isinstance(prompt, str) else {"ids": _plain(prompt)} for prompt in prompts]
            input, prompts = "".join(json.dumps(line) + "\n" for line in lines), "-"
        if prompts is not None:
            options["prompts"] = os.fspath(prompts)
        if isinstance(options.get("prompt"), bytes):  # which need not be UTF-8
            input, options["prompt-file"] = options.pop("prompt"), "-"
        request = {"command": list(command), "options": options}
        if input is not None:
            request["input"] = list(input) if isinstance(input, bytes) else input
        answer = self._answer(request)
        for message in answer["messages"]:
            warnings.warn(message, HeadscopeWarning, stacklevel=3)
        if "error" in answer:
            raise HeadscopeError(answer["error"], answer["status"])
        if "format" in answer:
            data = base64.b64decode(answer["base64"])
            if answer["format"] == "csv":
                return data.decode("utf-8")
            return Figure(data, answer["format"], options.get("scale", 1 if command[0] != "plot" else 2))
        if "text" in answer:
            return base64.b64decode(answer["base64"]) if "base64" in answer else answer["text"]
        return _with_arrays(answer.get("results" if "results" in answer else "result"))

    def _model(self, options):
        attention = {"precision", "threads"} if "attention" in options else self._options
        return {**{name: self._options[name] for name in self._options if name in attention}, **options}

    def _on_prompt(self, command, prompt, options):
        if prompt is not None:
            options["prompt" if isinstance(prompt, (str, bytes)) else "ids"] = prompt
        return self.run(command, **self._model(options))

    # ---- numbers; a prompt is a text, bytes, or a list of ids ----

    def info(self, **options):
        """The configuration and the parameters of the model."""
        model = {name: value for name, value in self._options.items() if name == "model"}
        return self.run("info", **{**model, **options})

    def tokens(self, prompt=None, **options):
        """The tokens of a prompt."""
        model = {name: value for name, value in self._options.items() if name == "model"}
        if prompt is not None:
            options["prompt" if isinstance(prompt, (str, bytes)) else "ids"] = prompt
        return self.run("tokens", **{**model, **options})

    def predict(self, prompt=None, **options):
        """The most probable next tokens."""
        return self._on_prompt("predict", prompt, options)

    def lens(self, prompt=None, **options):
        """The model's guesses along the residual stream."""
        return self._on_prompt("lens", prompt, options)

    def attribute(self, prompt=None, **options):
        """What each part of the model adds to a token's logit."""
        return self._on_prompt("attribute", prompt, options)

    def saliency(self, prompt=None, **options):
        """How much each token counts for a prediction."""
        return self._on_prompt("saliency", prompt, options)

    def sweep(self, prompt=None, **options):
        """The effect of each head or layer on a prediction."""
        return self._on_prompt("sweep", prompt, options)

    def circuit(self, prompt=None, **options):
        """The parts and edges that make a prediction."""
        return self._on_prompt("circuit", prompt, options)

    def metrics(self, prompt=None, **options):
        """Metrics of each head."""
        return self._on_prompt("metrics", prompt, options)

    def generate(self, prompt=None, **options):
        """Continues a prompt; bytes if the text is no UTF-8."""
        return self._on_prompt("generate", prompt, options) or ""

    def trace(self, prompt=None, hooks=None, **options):
        """Activations by their names in TransformerLens: `{"blocks.0.attn.hook_pattern": array [head, query, key], ...}`, and `tokens`.
        `hooks` are names with `*`, as a text or a list."""
        with tempfile.TemporaryDirectory(prefix="headscope-") as folder:
            file = Path(folder) / "trace.safetensors"
            self._on_prompt("trace", prompt, {**options, "hooks": hooks, "out": file})
            return read_safetensors(file)

    def patterns(self, prompt=None, **options):
        """The attention of all heads, [layer, head, query, key]."""
        return self._stacked("blocks.{}.attn.hook_pattern", prompt, options)

    def residuals(self, prompt=None, **options):
        """The residual stream after each layer, [layer, position, d_model]."""
        return self._stacked("blocks.{}.hook_resid_post", prompt, options)

    def logits(self, prompt=None, **options):
        """The logits after each position, [position, vocabulary]."""
        return self.trace(prompt, "logits", **options)["logits"]

    def _stacked(self, name, prompt, options):
        traced = self.trace(prompt, name.format("*"), **options)
        return np.stack([traced[name.format(layer)] for layer in range(len(traced) - 1)])  # and the tokens

    # ---- figures ----

    def plot(self, view, prompt=None, format="png", **options):
        """The picture of a view, as a Figure; with `format="csv"` its numbers as text. `headscope views` lists the views."""
        return self._figure(("plot", view), prompt, format, options)

    def animate(self, view, prompt=None, through="head", **options):
        """An animation of a view: head by head, layer by layer, query by query, or through an option's values."""
        return self._figure(("animate", view), prompt, "png", {"through": through, **options})

    def shot(self, prompt=None, **options):
        """A picture of the whole window."""
        return self._figure(("shot",), prompt, "png", options)

    def _figure(self, command, prompt, format, options):
        options = {"out": "-", "format": format, **options}
        if prompt is not None:
            options["prompt" if isinstance(prompt, (str, bytes)) else "ids"] = prompt
        if "recipe" not in options:
            options = self._model(options)
        return self.run(*command, **options)

    # ---- the process ----

    def _start(self):
        self._errors = tempfile.TemporaryFile()  # a pipe that nobody reads would fill up
        try:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                                             start_new_session=True)  # Ctrl+C is for Python, which ends it itself
        except OSError as error:
            self._errors.close()
            raise HeadscopeError(f"cannot start {self._command[0]}: {error.strerror}") from None

    def _end(self):
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            try:
                stream.close()
            except OSError:
                pass
        try:
            process.wait(timeout=2)  # it ends with its input
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._errors.close()

    def _died(self):
        """Why there is no answer."""
        process, errors = self._process, self._errors
        try:
            status = process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace").strip().splitlines()
        self._end()
        return HeadscopeError("headscope has ended" + (f": {said[-1]}" if said else f" with the exit status {status}"))

    def _answer(self, request):
        with self._lock:
            self._count += 1
            line = json.dumps({"id": self._count, **request}).encode() + b"\n"
            if self._process is None or self._process.poll() is not None:
                self._end()
                self._start()
            try:
                try:
                    self._process.stdin.write(line)
                    self._process.stdin.flush()
                    answer = self._process.stdout.readline()
                except OSError:
                    answer = b""
                if not answer.endswith(b"\n"):
                    raise self._died()
                answer = json.loads(answer)
                if answer["id"] != self._count:
                    raise HeadscopeError("headscope has answered another request")
                return answer
            except BaseException as error:
                # Interrupted while it waited: the answer would be taken for that of the next request.
                if self._process is not None:
                    self._process.kill()
                    self._end()
                raise error
