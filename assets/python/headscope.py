"""headscope from Python: see inside GPT-2, with numbers as numpy arrays and figures in the notebook.

    from headscope import Headscope

    with Headscope() as hs:
        answer = hs.lens("Once upon a time", lens_at="query")
        pandas.DataFrame(answer["columns"])
        traced = hs.trace("Once upon a time", hooks="blocks.*.attn.hook_pattern")
        hs.plot("heatmap", "Once upon a time", layer=2, head=1)

One file that needs numpy alone: install it with headscope, or copy it to where you work. It starts the program once, as
`headscope serve --stdio`, which keeps models loaded, so that a call takes milliseconds. The options of a call are those of the command
(`headscope lens --help`), with `_` for `-`: `lens_at="query"`. A view answers with a dict: `columns` and `facts` by their names, with numbers
as arrays (nan where there is none), their `units`, the `options`, and `how` it was made.
"""
import base64
import contextlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
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

    def __init__(self, data, format):
        self.data, self.format = data, format

    def save(self, path):
        Path(path).write_bytes(self.data)

    def _repr_png_(self):
        if self.format != "png":
            return None
        resolution = self.data.find(b"pHYs") + 4
        if resolution < 4:
            return self.data
        width, per_metre = (struct.unpack_from(">I", self.data, at)[0] for at in (16, resolution))
        return self.data, {"width": round(width / per_metre / 0.0254 * 96)}  # in pixels of a page, 96 to an inch

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
        flat = np.frombuffer(memoryview(data)[begin:end], types[tensor["dtype"]])
        tensors[name] = flat.reshape(tensor["shape"]).copy()  # one that can be written to
    return tensors


def _program():
    """The program to start: $HEADSCOPE, the one installed with this file or last built in its source tree, or the one on the path."""
    if os.environ.get("HEADSCOPE"):
        return os.environ["HEADSCOPE"]
    name = "headscope.exe" if os.name == "nt" else "headscope"
    file = Path(__file__).resolve()
    for own, folder in (("share/headscope/python", "bin"), ("assets/python", "build/*/app")):
        if file.parent.as_posix().endswith("/" + own):
            root = file.parents[own.count("/") + 1]
            places = [place for place in root.glob(f"{folder}/{name}") if shutil.which(str(place))]
            if places:
                return str(max(places, key=lambda place: place.stat().st_mtime))
    found = shutil.which(name)
    if found is None:
        raise HeadscopeError("headscope was not found: install it, set the variable HEADSCOPE, or name the program")
    return found


def _warn(message):
    """Warns of the line that called this file: where a warning is from decides whether it is shown again."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals is globals():
        level, frame = level + 1, frame.f_back
    warnings.warn(message, HeadscopeWarning, stacklevel=level)


def _text(value):
    """An option's value as one argument."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple, range)):
        return ",".join(_text(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _arguments(name, value):
    """The arguments for an option: none if it is None or False, one each for the texts of `edit` and `merge`."""
    if value is None or value is False:
        return []
    if value is True:
        return [f"--{name}"]
    values = value if name in ("edit", "merge") and isinstance(value, (list, tuple)) else [value]
    return [f"--{name}={_text(item)}" for item in values]


def _line(prompt):
    """A prompt as a line of a list."""
    line = prompt if isinstance(prompt, (str, dict)) else {"ids": prompt}
    try:
        return json.dumps(line, allow_nan=False, default=lambda value: value.tolist())  # of numpy
    except ValueError:
        raise ValueError("a prompt's line must have finite numbers, found nan or infinity") from None


def _bytes(value):
    """Bytes from a list of numbers, or a column of them in hexadecimal."""
    return [bytes.fromhex(item) for item in value] if value and isinstance(value[0], str) else bytes(value)


def _with_arrays(value):
    """An answer with its lists of numbers as arrays (None as nan), and those of bytes as bytes."""
    if isinstance(value, dict):
        return {key: _bytes(item) if key == "bytes" and isinstance(item, list) else _with_arrays(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    if value and all(item is None or (isinstance(item, (int, float)) and not isinstance(item, bool)) for item in value):
        array = np.array(value)
        return array.astype(float) if array.dtype == object else array
    return [_with_arrays(item) for item in value]


class Headscope:
    """The program, running. `model`, `precision` and `threads` are those of all calls that take them and do not say otherwise; `memory` is
    how many MiB of models stay loaded. Use it in a `with`, or call `close`. Calls from several threads come one after another."""

    def __init__(self, model=None, *, precision=None, threads=None, memory=None, program=None):
        self._options = {name: value for name, value in
                         (("model", model), ("precision", precision), ("threads", threads)) if value is not None}
        self._taken = {}
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
        arrays, a Figure with `out="-"` and a `format`, or text. `prompts`, a list of texts, of lists of ids or of dicts (lines of a list),
        gives a list of answers; so does the name of a file. With `mean=True` there is one answer."""
        options = {name.rstrip("_").replace("_", "-"): value for name, value in options.items() if value is not None}
        command = [os.fspath(word) for word in command]
        options = {**self._defaults(command, options), **options}
        if prompts is not None and not isinstance(prompts, (str, os.PathLike)):
            lines = [_line(prompt) for prompt in prompts]
            if not lines:
                raise HeadscopeError("prompts is empty: give at least one prompt", 2)
            text = "".join(line + "\n" for line in lines)
            if options.get("mean") and "out" in options:  # a picture of means reads a file
                with tempfile.TemporaryDirectory(prefix="headscope-") as folder:
                    file = Path(folder) / "prompts.jsonl"
                    file.write_text(text, encoding="utf-8")
                    return self.run(*command, prompts=file, **{name.replace("-", "_"): value for name, value in options.items()})
            input, prompts = text, "-"
        if prompts is not None:
            options["prompts"] = prompts
        if isinstance(options.get("prompt"), bytes):  # which need not be UTF-8
            input, options["prompt-file"] = options.pop("prompt"), "-"
        elif isinstance(options.get("prompt"), (int, float)):
            raise TypeError("a prompt is a text, bytes or a list of ids")
        elif not isinstance(options.get("prompt", ""), str):
            options["ids"] = options.pop("prompt")
        words = {word.partition("=")[0] for word in command}
        if not {"out", "json"} & options.keys() and not {"--out", "--json", "--help"} & words and "".join(command[:1]) not in ("trace", "shot", "get"):
            options["json"] = True
        request = {"args": [*command, *(argument for name, value in options.items() for argument in _arguments(name, value))]}
        if input is not None:
            name, text = ("input_base64", base64.b64encode(input).decode()) if isinstance(input, bytes) else ("input", input)
            request[name] = text
        answer = self._answer(request)
        with self._understood():
            messages = [str(message) for message in answer["messages"]]
            error = HeadscopeError(str(answer["error"]), answer["status"]) if "error" in answer else None
            value = None if error else self._printed(answer, options)
        for message in messages:
            _warn(message)
        if error:
            raise error
        return value

    @staticmethod
    def _printed(answer, options):
        """What a command printed."""
        data = base64.b64decode(answer["base64"], validate=True) if "base64" in answer else answer["text"].encode()
        if options.get("json") and "out" not in options:
            answers = [_with_arrays(json.loads(line)) for line in data.splitlines()]
            return answers if "prompts" in options and not options.get("mean") else answers[0]
        if options.get("out") == "-" and options.get("format") not in ("csv", "txt", "json"):
            return Figure(data, options.get("format"))
        return answer.get("text", data)

    def _defaults(self, command, options):
        """The model, precision and threads of all calls, as far as this command takes them and nothing given replaces them."""
        if not self._options or "merge" in options:  # which reads nothing but its files
            return {}
        name = "".join(command[:1])
        if name not in self._taken:
            help = str(self._answer({"args": [name, "--help"]}).get("text"))
            self._taken[name] = set(re.findall("^  --([a-z-]+)", help, re.MULTILINE))
        given = {*options, *(word[2:].partition("=")[0] for word in command if word.startswith("--"))}
        if "recipe" in given:
            given |= {"model", "precision"}
        if "attention" in given or (name == "info" and not all(word.startswith("-") for word in command[1:])):  # info of a file
            given.add("model")
        return {option: value for option, value in self._options.items() if option in self._taken[name] - given}

    # ---- numbers; a prompt is a text, bytes, or a list of ids ----

    def info(self, **options):
        """The configuration and the parameters of the model."""
        return self.run("info", **options)

    def tokens(self, prompt=None, **options):
        """The tokens of a prompt."""
        return self.run("tokens", prompt=prompt, **options)

    def predict(self, prompt=None, **options):
        """The most probable next tokens."""
        return self.run("predict", prompt=prompt, **options)

    def lens(self, prompt=None, **options):
        """The model's guesses along the residual stream."""
        return self.run("lens", prompt=prompt, **options)

    def attribute(self, prompt=None, **options):
        """What each part of the model adds to a token's logit."""
        return self.run("attribute", prompt=prompt, **options)

    def saliency(self, prompt=None, **options):
        """How much each token counts for a prediction."""
        return self.run("saliency", prompt=prompt, **options)

    def sweep(self, prompt=None, **options):
        """The effect of each head or layer on a prediction."""
        return self.run("sweep", prompt=prompt, **options)

    def circuit(self, prompt=None, **options):
        """The parts and edges that make a prediction."""
        return self.run("circuit", prompt=prompt, **options)

    def metrics(self, prompt=None, **options):
        """Metrics of each head."""
        return self.run("metrics", prompt=prompt, **options)

    def generate(self, prompt=None, details=False, **options):
        """Continues a prompt, and returns the new text, with U+FFFD for what is not UTF-8. With `details` a dict that also has the tokens,
        their bytes and probabilities, and why the text ends."""
        answer = self.run("generate", prompt=prompt, **options)
        return answer["text"] if isinstance(answer, dict) and not details else answer

    def trace(self, prompt=None, hooks=None, **options):
        """Activations by their names in TransformerLens: `{"blocks.0.attn.hook_pattern": array [head, query, key], ...}`, and `tokens`.
        `hooks` are names with `*`, as a text or a list."""
        with tempfile.TemporaryDirectory(prefix="headscope-") as folder:
            file = Path(folder) / "trace.safetensors"
            self.run("trace", prompt=prompt, hooks=hooks, out=file, **options)
            with self._understood():
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
        layers = map(name.format, range(len(traced)))
        return np.stack([traced[layer] for layer in layers if layer in traced])

    # ---- figures ----

    def plot(self, view, prompt=None, format="png", **options):
        """The picture of a view, as a Figure; with `format="csv"` its numbers as text. `headscope views` lists the views."""
        return self.run(view, prompt=prompt, **{"out": "-", "format": format, **options})

    def shot(self, prompt=None, **options):
        """A picture of the whole window."""
        return self.run("shot", prompt=prompt, **{"out": "-", "format": "png", **options})

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

    @contextlib.contextmanager
    def _understood(self):
        """For reading answers: any program can be named, and write anything."""
        try:
            yield
        except (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError, struct.error) as error:
            raise HeadscopeError(f"{self._command[0]} does not answer as headscope does: {error}") from error

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
                with self._understood():
                    answer = json.loads(answer)
                    if answer["id"] != self._count and not (answer["id"] is None and "error" in answer):  # it could not read even the id
                        raise ValueError("it has answered another request")
                return answer
            except BaseException as error:
                # Interrupted while it waited: the answer would be taken for that of the next request.
                if self._process is not None:
                    self._process.kill()
                    self._end()
                raise error
