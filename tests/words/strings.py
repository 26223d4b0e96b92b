#!/usr/bin/env python3
"""Writes every string that a user may read to one file, and fails if one has a phrase of a list.

strings.py ROOT OUT [--tables FILE] [--phrases FILE]: ROOT is the repository. The strings are the literals of the sources, with
their lines, the texts of the documents and, from FILE, what the program's tables say (written by words_tests). Adjacent
literals are one string. Left out are includes, and literals that are a single name: ids, keys of JSON, flags.
"""
import argparse
import pathlib
import re
import sys

SOURCES = ("app", "viz", "model", "system")
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "assets/guide/*.md", "assets/tours/*.md", "assets/prompts.txt",
             "assets/cluster/README.md", "assets/models/tales/MODEL_CARD.md", "assets/headscope.desktop", "assets/package/*.in")

TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|\#[ \t]*include[^\n]*|'(?:[^'\\\n]|\\.)+')"""
    r"""|(?P<raw>R"(?P<mark>[^\s()\\]{0,16})\((?P<inside>.*?)\)(?P=mark)")"""
    r"""|"(?P<text>(?:[^"\\\n]|\\.)*)"|(?P<other>\S)""", re.DOTALL)
ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]+|u[0-9A-Fa-f]{4}|[0-7]{1,3}|.)", re.DOTALL)
SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
NAME = re.compile(r"[\w./:*%@=<>{}\[\]()+,;#-]*")  # a single word that is no sentence


def unescaped(text):
    def replace(match):
        code = match[1]
        if code[0] in "xu" and len(code) > 1:
            return chr(int(code[1:], 16))
        return SIMPLE.get(code, code)
    return ESCAPE.sub(replace, text)


def literals(source):
    """(line, text) of each string literal; adjacent ones joined."""
    found = []
    joins = False
    for token in TOKEN.finditer(source):
        if token["skip"] is not None:
            continue
        if token["other"] is not None:
            joins = False
            continue
        text = token["inside"] if token["raw"] else unescaped(token["text"])
        if joins:
            found[-1] = (found[-1][0], found[-1][1] + text)
        else:
            found.append((source.count("\n", 0, token.start()) + 1, text))
        joins = True
    return found


def is_name(text):
    return NAME.fullmatch(text) is not None and not text.endswith(".")


def strings(root, tables):
    """(where, text) of every string."""
    for folder in SOURCES:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in (".cpp", ".h"):
                continue
            for line, text in literals(file.read_text()):
                if not is_name(text):
                    yield f"{file.relative_to(root)}:{line}", text
    for pattern in DOCUMENTS:
        files = sorted(root.glob(pattern))
        if not files:
            sys.exit(f"strings.py: no file {pattern}")
        for file in files:
            text, line = file.read_text(), 1
            for paragraph in re.split(r"(?<=\n)\s*\n", text):
                yield f"{file.relative_to(root)}:{line}", paragraph.strip()
                line = text.count("\n", 0, text.index(paragraph) + len(paragraph)) + 2
    if tables:
        for line in tables.read_text().splitlines():
            where, _, text = line.partition("\t")
            yield where, text


def phrases(file):
    """(phrase, pattern) of each line."""
    for line in file.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        words = r"\s+".join(re.escape(word) for word in line.split())
        before, after = (r"(?<!\w)" if line[0].isalnum() else ""), (r"(?!\w)" if line[-1].isalnum() else "")
        yield line, re.compile(before + words + after, 0 if line[0].isupper() else re.IGNORECASE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--tables", type=pathlib.Path)
    parser.add_argument("--phrases", type=pathlib.Path)
    given = parser.parse_args()
    every = list(strings(given.root, given.tables))
    given.out.write_text("".join(f"{where}\t{' '.join(text.split())}\n" for where, text in every))
    faults = [f"{where}: “{phrase}” in “{' '.join(text.split())[:200]}”"
              for phrase, pattern in (phrases(given.phrases) if given.phrases else ())
              for where, text in every if pattern.search(text)]
    print(f"{len(every)} strings in {given.out}", *faults, sep="\n")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
