#!/usr/bin/env python3
"""Measures models with headscope_yardsticks, keeps all of it in one JSON file and prints the tables of assets/guide/testing-and-speed.md.

    tests/bench/report.py --program build/test/tests/bench/headscope_yardsticks --model ~/models/gpt2 --precision f32,bf16 --out report.json
"""
import argparse
import json
import os
import subprocess
import sys

COLUMNS = [  # heading, key of a run, decimals, factor, unit
    ("tokens", "tokens", 0, 1, ""),
    ("last logits", "pass_last_logits_ms", 1, 1, ""),
    ("all logits", "pass_all_logits_ms", 1, 1, ""),
    ("all maps", "pass_all_maps_ms", 1, 1, ""),
    ("maps and logits", "pass_all_maps_all_logits_ms", 1, 1, ""),
    ("one more token", "one_more_token_ms", 1, 1, ""),
    ("gradients", "gradients_ms", 1, 1, ""),
    ("pass, of products", "pass_of_products", 0, 100, " %"),
    ("pass, of the limit", "pass_of_limit", 0, 100, " %"),
    ("one more, of reading", "one_more_token_of_read_bandwidth", 0, 100, " %"),
]
PRODUCTS = [
    ("tokens", "tokens", 0, 1, ""),
    ("matrix", "matrix", None, 1, ""),
    ("GFLOP/s", "gflop_per_s", 1, 1, ""),
    ("Eigen", "eigen_gflop_per_s", 1, 1, ""),
    ("OpenBLAS", "openblas_gflop_per_s", 1, 1, ""),
    ("of the faster", "of_faster_peer", 0, 100, " %"),
    ("of the limit", "of_limit", 0, 100, " %"),
    ("GB/s", "read_gbyte_per_s", 1, 1, ""),
]
WINDOW = [
    ("tokens", "tokens", 0, 1, ""),
    ("typed at the end", "typed_at_the_end_ms", 1, 1, ""),
    ("slowest", "typed_at_the_end_longest_ms", 1, 1, ""),
    ("changed at the start", "typed_at_the_start_ms", 1, 1, ""),
    ("another head", "other_head_ms", 1, 1, ""),
    ("a head switched off", "head_off_ms", 1, 1, ""),
    ("nothing new", "settled_frame_ms", 1, 1, ""),
]


class ReportError(Exception):
    """One sentence."""


def cell(row, key, decimals, factor, unit):
    value = row.get(key)
    if value is None:
        return ""
    return str(value) if decimals is None else f"{factor * value:,.{decimals}f}{unit}"


def table(columns, rows):
    """Markdown, without the columns that no row has a value for."""
    columns = [column for column in columns if any(column[1] in row for row in rows)]
    lines = ["| " + " | ".join(column[0] for column in columns) + " |", "|" + "---:|" * len(columns)]
    lines += ["| " + " | ".join(cell(row, *column[1:]) for column in columns) + " |" for row in rows]
    return "\n".join(lines)


def limits_line(result):
    machine = result["machine"]
    line = (f"This machine, {result['threads']} threads ({result['kernels']}): {machine['gflop_per_s']:.0f} GFLOP/s of "
            f"multiply-adds in registers, {machine['read_gbyte_per_s']:.1f} GB/s read")
    return line + (", beside " + " and ".join(result["peers"]) if result["peers"] else "") + "."


def markdown(result):
    parts = [f"**{result['model']}, {result['precision']}** (milliseconds)", table(COLUMNS, result["runs"])]
    if "products" in result:
        parts += ["Products with weights from memory, GFLOP/s:", table(PRODUCTS, result["products"])]
    if "window" in result:
        parts += ["Until the window is drawn again, milliseconds:", table(WINDOW, result["window"])]
    return "\n\n".join(parts + [limits_line(result)])


def environment():
    """Without a processor that someone else chose for OpenBLAS: a yardstick should not be shortened."""
    return {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}


def bench(program, model, precision, options):
    command = [program, "--materialize", "--precision", precision, *options]
    if model is not None:
        command += ["--model", model]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    except OSError as error:
        raise ReportError(f"{program} cannot be started ({error.strerror}); see --program") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip() or f"it ended with status {done.returncode}"
        raise ReportError(said.removeprefix("headscope_yardsticks: "))
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise ReportError(f"{program} wrote something that is no JSON; is it headscope_yardsticks?") from None


def write(path, results):
    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1, ensure_ascii=False)
            file.write("\n")
    except OSError as error:
        raise ReportError(f"{path} cannot be written ({error.strerror}); see --out") from None


def arguments(words):
    parser = argparse.ArgumentParser(description="Measure models and print the tables of assets/guide/testing-and-speed.md.")
    parser.add_argument("--program", default="build/test/tests/bench/headscope_yardsticks", help="default: %(default)s")
    parser.add_argument("--model", action="append", metavar="DIR", help="may be given again; default: the bundled model")
    parser.add_argument("--precision", default="f32", help="one or more of f32,f16,bf16 (default: %(default)s)")
    parser.add_argument("--tokens", metavar="N,...", help="lengths of the prompts, as headscope bench takes them")
    parser.add_argument("--threads", metavar="N", help="as headscope bench takes it")
    parser.add_argument("--products", action="store_true", help="the products one by one, too")
    parser.add_argument("--ui", action="store_true", help="the window, too")
    parser.add_argument("--out", metavar="FILE.json", help="keep everything that was measured here")
    return parser.parse_args(words)


def main(words):
    given = arguments(words)
    options = [word for name in ("tokens", "threads") if getattr(given, name) for word in (f"--{name}", getattr(given, name))]
    options += [f"--{name}" for name in ("products", "ui") if getattr(given, name)]
    results = []
    try:
        for model in given.model or [None]:
            for precision in given.precision.split(","):
                results.append(bench(given.program, model, precision.strip(), options))
                if given.out:
                    write(given.out, results)  # each time: a model that fails takes nothing along
                print(markdown(results[-1]) + "\n", flush=True)
    except ReportError as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
