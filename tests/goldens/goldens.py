#!/usr/bin/env python3
"""Golden files: everything the program writes, kept as hashes, so that a change that should not alter any output can prove it.

    goldens.py write --program P --out DIR [--jobs N] [--subset quick|full] [--like DIR]
    goldens.py compare DIR_A DIR_B [--limit N]
    goldens.py check --program P [--out DIR]
    goldens.py accept --program P

`write` runs every case and keeps its files below DIR, with their SHA-256 in DIR/manifest.json. With --like, the views and
options are those of an earlier DIR (so that their old names are still tried), and its figures are the ones read back.
`compare` lists by group what differs between two such folders. `check` is the test: it runs the quick subset against
hashes.json and exits 77 where that has no hashes for this kind of machine; `accept` stores them.

A case is one or more runs of the program in an empty folder. Each file they write is a golden, as are standard output and
standard error (`stdout`, `stderr`). cases.py says which cases there are. The program must not be rebuilt meanwhile.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections import Counter, defaultdict
from pathlib import Path

from cases import COMPUTING, all_cases, make_inputs

HERE = Path(__file__).resolve().parent
HASHES = HERE / "hashes.json"
SKIPPED = 77
NO_KIND = "the program is not in a build folder, so what it was compiled for is not known"
NOT_REPEATABLE = re.compile(rb"^headscope: .*(% done|prompts, .* per second.*)\n", re.MULTILINE)  # progress, when it takes long


# Running

class Program:
    """The program under test, with a home and input files of its own."""

    def __init__(self, path, folder, like=None):
        self.path, self.like, self.inputs = Path(path).resolve(), like, folder / "inputs"
        home = folder / "home"
        home.mkdir()
        self.inputs.mkdir()
        self.environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", "HF_HUB_OFFLINE": "1"}
        self.bundled = Path(json.loads(self.output("info", "--json"))["folder"])  # the model
        make_inputs(self.inputs, self.output)

    def start(self, arguments, cwd):
        if arguments and arguments[0] in COMPUTING and not {"--help", "--merge"} & set(arguments):
            arguments = [*arguments, "--threads", "1"]
        return subprocess.run([self.path, *arguments], cwd=cwd, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=600, check=False)

    def output(self, *arguments, cwd=None):
        done = self.start(list(arguments), cwd)
        if done.returncode:
            sys.exit(f"goldens.py: {self.path} {' '.join(arguments)}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode()

    def plot_that_fits(self, arguments, cwd):
        """One run; where it refuses a figure's size, another at the least size that it names, or at one that fits."""
        done = self.start(arguments, cwd)
        if done.returncode != 1 or arguments[0] != "plot" or "--size" not in arguments:
            return done
        least = re.search(rb"\b(\d+x\d+)\b", done.stderr)
        at = arguments.index("--size") + 1
        return self.start([*arguments[:at], least[1].decode() if least else "fit", *arguments[at + 1:]], cwd)

    def run(self, case):
        """What a case writes: file name -> bytes."""
        files, said = {}, []
        with tempfile.TemporaryDirectory(prefix="goldens-") as temporary:
            folder = Path(temporary)
            for file in self.inputs.iterdir():
                (folder / file.name).symlink_to(file)
            inputs = set(os.listdir(folder))
            for step in case.steps:
                if step[0] == "cp":
                    older = self.like / case.name / step[1] if self.like else None
                    source = older if older and older.exists() else folder / step[1]
                    if not source.exists():
                        break  # the message says why
                    shutil.copy(source, folder / step[2])
                    inputs.add(step[2])
                    continue
                step, into = (step[:-2], step[-1]) if step[-2:-1] == [">"] else (step, None)
                done = self.plot_that_fits(step, folder)
                if into:
                    (folder / into).write_bytes(done.stdout)
                elif done.stdout:
                    files["stdout"] = done.stdout.replace(os.fsencode(self.bundled), b"BUNDLED")
                if error := NOT_REPEATABLE.sub(b"", done.stderr):
                    said.append(error)
                if done.returncode:
                    said.append(f"exit status {done.returncode}\n".encode())
            if said:
                files["stderr"] = b"".join(said).replace(os.fsencode(self.bundled), b"BUNDLED")
            files.update((name, (folder / name).read_bytes()) for name in os.listdir(folder) if name not in inputs)
        return files


def options_text(views):
    """The views and their options, but for titles and help."""
    lines = [f"{view['id']} {' '.join(str(option.get(key, '')) for key in ('name', 'values', 'default', 'least', 'most'))}"
             for view in views for option in [{}, *view["options"]]]
    return "\n".join(line.rstrip() for line in lines).encode() + b"\n"


def run_all(arguments, subset):
    """Runs the cases of the subset, keeps their files where --out says, and returns {golden: SHA-256}."""
    out = Path(arguments.out) if arguments.out else None
    like = Path(arguments.like).resolve() if getattr(arguments, "like", None) else None
    if out and out.exists() and any(out.iterdir()):
        sys.exit(f"goldens.py: {out} is not empty")
    hashes = {}

    def keep(golden, data):
        hashes[golden] = hashlib.sha256(data).hexdigest()
        if out:
            (out / golden).parent.mkdir(parents=True, exist_ok=True)
            (out / golden).write_bytes(data)

    with tempfile.TemporaryDirectory(prefix="goldens-home-") as temporary:
        program = Program(arguments.program, Path(temporary), like)
        own_views = program.output("views", "--json")
        keep("options/options.txt", options_text(json.loads(own_views)["views"]))
        tried_views = (like / "views.json").read_text() if like else own_views
        cases = list(all_cases(program, json.loads(tried_views)["views"], subset == "quick"))
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for case, files in zip(cases, pool.map(program.run, cases)):
                for name, data in files.items():
                    keep(f"{case.name}/{name}", data)
    if out:
        (out / "views.json").write_text(tried_views)
        (out / "manifest.json").write_text(json.dumps(hashes, indent=0, sort_keys=True) + "\n")
    return hashes


# Comparing

def group_of(golden):
    """Goldens that are counted together: messages, and of views one group per kind of file."""
    first, last = golden.split("/")[0], golden.split("/")[-1]
    if last == "stderr" and first != "errors":
        return "messages"
    return f"{first} {last}" if first in ("views", "demo-views", "recipe", "session") else first


def unfiltered(data):
    """The size, bytes per pixel and pixel bytes of a PNG with 8 bits per channel."""
    width, height, _, color = struct.unpack(">IIBB", data[16:26])
    channels, at, packed = {2: 3, 6: 4}[color], 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    coded, stride, before, pixels = zlib.decompress(packed), width * channels, bytes(width * channels), bytearray()
    for start in range(0, height * (stride + 1), stride + 1):
        kind, line = coded[start], bytearray(coded[start + 1:start + 1 + stride])
        for i in range(stride if kind else 0):
            a, c = (line[i - channels], before[i - channels]) if i >= channels else (0, 0)
            b = before[i]
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2] if kind == 4 else 0
            line[i] = line[i] + (0, a, b, (a + b) // 2, paeth)[kind] & 255
        pixels += line
        before = line
    return (width, height), channels, bytes(pixels)


def difference(a, b, suffix):
    """A few words about how two versions of a file differ."""
    if suffix == ".png":
        (size, step, one), (size_b, step_b, other) = unfiltered(a), unfiltered(b)
        if size != size_b:
            return f"{size[0]}x{size[1]} became {size_b[0]}x{size_b[1]}"
        if step != step_b:
            return "transparency differs"
        pixels = sum(one[i:i + step] != other[i:i + step] for i in range(0, len(one), step))
        return f"{pixels} of {size[0] * size[1]} pixels" if pixels else "the same pixels"
    if suffix == ".svg":
        text = re.compile(rb"<text .*?</text>\n?|<metadata.*?</metadata>", re.DOTALL)
        if text.sub(b"", a) == text.sub(b"", b):
            return "the same but for text"
    if suffix in (".csv", "") and a != b:
        number = re.compile(rb"-?\d+\.?\d*(?:e[-+]?\d+)?")
        if number.findall(a) == number.findall(b) != []:
            return "the same numbers, other words"
    ours, theirs = Counter(a.split(b"\n")), Counter(b.split(b"\n"))
    return f"lines: {sum((ours - theirs).values())} gone, {sum((theirs - ours).values())} new"


def compare(arguments):
    folders = [Path(arguments.a), Path(arguments.b)]
    a, b = (json.loads((folder / "manifest.json").read_text()) for folder in folders)
    found = defaultdict(lambda: {"differ": [], "missing": [], "new": []})
    for golden in sorted({*a, *b}):
        if a.get(golden) != b.get(golden):
            found[group_of(golden)]["new" if golden not in a else "missing" if golden not in b else "differ"].append(golden)
    totals = Counter(map(group_of, a))
    for group in sorted({*totals, *found}):
        kinds = found.get(group, {})
        words = ", ".join(f"{len(names)} {kind}" for kind, names in kinds.items() if names)
        print(f"{group}: {totals[group]} goldens, {words or 'all the same'}")
        for kind, names in kinds.items():
            for name in names[:arguments.limit]:
                data = [(folder / name).read_bytes() for folder in folders] if kind == "differ" else None
                print(f"  {kind:8} {name}" + (f": {difference(*data, Path(name).suffix)}" if data else ""))
            if len(names) > arguments.limit:
                print(f"  {kind:8} ... and {len(names) - arguments.limit} more")
    return 1 if found else 0


# The test

def machine_kind(program):
    """What floating-point results and letters depend on: compiler, processor, C library, fonts. None where it is not known."""
    build = next((folder for folder in Path(program).resolve().parents if (folder / "CMakeCache.txt").exists()), None)
    if build is None:
        return None
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE))
    compiler = "".join(file.read_text() for file in build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"))
    flags = cache.get("CMAKE_CXX_FLAGS", "").replace("-ffp-contract=off", "")  # which cmake/Options.cmake adds anyway
    options = [cache.get("CMAKE_BUILD_TYPE", ""), *re.findall(r'CMAKE_CXX_COMPILER_(?:ID|VERSION) "(.*)"', compiler),
               cache.get("HEADSCOPE_MARCH") or ("native" if cache.get("HEADSCOPE_NATIVE") == "ON" else "portable"),
               *filter(None, (cache.get("HEADSCOPE_SANITIZE"), flags.strip()))]
    cpu = Path("/proc/cpuinfo").read_text()
    processor = dict(re.findall(r"^(vendor_id|cpu family|model)\s*: (.*)$", cpu, re.MULTILINE)).values()
    width = next((flag for flag in ("avx512f", "avx2") if f" {flag} " in cpu), "plain")
    with tempfile.TemporaryDirectory() as home:
        doctor = subprocess.run([program, "doctor", "--json"], env={"HOME": home, "PATH": "/usr/bin:/bin"}, capture_output=True,
                                check=False).stdout
    fonts = sorted({f["text"] for f in json.loads(doctor)["findings"] if f["text"].endswith((".otf", ".ttf", ".ttc"))})
    digest = hashlib.sha256(b"".join(Path(font).read_bytes() for font in fonts)).hexdigest()[:8]
    return ", ".join([" ".join(options), " ".join([*processor, width]), " ".join(platform.libc_ver()), f"fonts {digest}"])


def check(arguments):
    kind = machine_kind(arguments.program)
    stored = json.loads(HASHES.read_text()).get(kind) if HASHES.exists() else None
    if not stored:
        print(f"skipped: no hashes for this kind of machine ({kind or NO_KIND}); `goldens.py accept` stores them", file=sys.stderr)
        return SKIPPED
    hashes = run_all(arguments, "quick")
    wrong = [f"  {'missing' if name not in hashes else 'differs'}  {name}" for name, value in sorted(stored.items())
             if hashes.get(name, "")[:len(value)] != value]
    print(f"{len(stored)} goldens, {len(wrong)} differ or are missing, {len(hashes.keys() - stored.keys())} have no hash yet")
    if wrong:
        print("\n".join(wrong[:100]))
        print("See what changed with `goldens.py write` of both programs and `goldens.py compare`; if it is as intended: accept.")
    return 1 if wrong else 0


def accept(arguments):
    kind = machine_kind(arguments.program)
    if not kind:
        sys.exit(f"goldens.py: {NO_KIND}")
    kinds = json.loads(HASHES.read_text()) if HASHES.exists() else {}
    hashes = {name: value[:16] for name, value in run_all(arguments, "quick").items()}
    changed = {name for name, value in kinds.get(kind, {}).items() if hashes.get(name) != value}
    for other in kinds.values():  # of an earlier program, and cannot be made here
        for name in changed:
            other.pop(name, None)
    kinds[kind] = hashes
    HASHES.write_text(json.dumps(kinds, indent=0, sort_keys=True) + "\n")
    print(f"{len(hashes)} hashes for {kind}; {len(changed)} of the earlier ones changed")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in "write", "check", "accept":
        command = commands.add_parser(name)
        command.add_argument("--program", required=True)
        command.add_argument("--out", required=name == "write")
        command.add_argument("--jobs", type=int, default=os.cpu_count())
        if name == "write":
            command.add_argument("--subset", choices=("quick", "full"), default="full")
            command.add_argument("--like", help="a folder that an earlier program wrote")
    command = commands.add_parser("compare")
    command.add_argument("a"), command.add_argument("b")
    command.add_argument("--limit", type=int, default=10, help="names per group (default: 10)")
    arguments = parser.parse_args()
    if arguments.command == "write":
        hashes = run_all(arguments, arguments.subset)
        for group, count in sorted(Counter(map(group_of, hashes)).items()):
            print(f"{count:5} {group}")
        print(f"{len(hashes):5} goldens in {arguments.out}")
        return 0
    return {"compare": compare, "check": check, "accept": accept}[arguments.command](arguments)


if __name__ == "__main__":
    sys.exit(main())
