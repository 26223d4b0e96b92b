#!/usr/bin/python3
"""GPT-2's tokenizer as published (`encoder.py` of Radford et al. 2019), the reference that the goldens come from.

    oracle.py train                 writes tiny/, a small vocabulary of many scripts
    oracle.py goldens [GPT2_DIR]    writes goldens/ (those of GPT-2's own vocabulary where its folder is given) and
                                    gpt2_part/, the part of that vocabulary that these texts need
    oracle.py encode DIR            reads `s|p HEX` lines (with and without special tokens), answers with ids

Needs python3-regex. Shares no code with the program. Bytes that are no UTF-8 become lone surrogates, as Python's
`surrogateescape` has it: characters that are neither letter, number nor white space.
"""
import collections
import json
import os
import sys

import regex

import inputs

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = regex.compile(r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""")
SPECIAL = "<|endoftext|>"


def byte_characters():
    """The character that stands for each byte in vocab.json and merges.txt."""
    printable = list(range(ord("!"), ord("~") + 1)) + list(range(0xA1, 0xAD)) + list(range(0xAE, 0x100))
    characters = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        if byte not in characters:
            characters[byte] = chr(256 + len(characters) - len(printable))
    return characters


def words_of(data):
    """The words of a text, as bytes."""
    return [word.encode("utf-8", "surrogateescape") for word in WORDS.findall(data.decode("utf-8", "surrogateescape"))]


class Oracle:
    def __init__(self, folder):
        with open(os.path.join(folder, "vocab.json"), encoding="utf-8") as file:
            self.ids = json.load(file)
        with open(os.path.join(folder, "merges.txt"), encoding="utf-8") as file:
            pairs = [tuple(line.split()) for line in file.read().split("\n")[1:-1]]
        self.ranks = dict(zip(pairs, range(len(pairs))))
        self.characters = byte_characters()
        self.cache = {}
        self.merged = set()  # the pairs that any text needed

    def merge(self, word):
        """The pair of the lowest rank is merged wherever it stands, until no pair has a rank."""
        pieces = [self.characters[byte] for byte in word]
        while len(pieces) > 1:
            best = min(zip(pieces, pieces[1:]), key=lambda pair: self.ranks.get(pair, float("inf")))
            if best not in self.ranks:
                break
            self.merged.add(best)
            merged, i = [], 0
            while i < len(pieces):
                if tuple(pieces[i:i + 2]) == best:
                    merged.append(pieces[i] + pieces[i + 1])
                    i += 2
                else:
                    merged.append(pieces[i])
                    i += 1
            pieces = merged
        return [self.ids[piece] for piece in pieces]

    def encode_plain(self, data):
        ids = []
        for word in words_of(data):
            if word not in self.cache:
                self.cache[word] = self.merge(word)
            ids += self.cache[word]
        return ids

    def encode(self, data, specials=True):
        if not specials:
            return self.encode_plain(data)
        ids = []
        for number, part in enumerate(data.split(SPECIAL.encode())):
            if number > 0:
                ids.append(self.ids[SPECIAL])
            ids += self.encode_plain(part)
        return ids


def train(text, merges, folder):
    """Byte-pair encoding (Sennrich et al. 2016): the most frequent pair becomes a token, again and again."""
    characters = byte_characters()
    counts = collections.Counter(words_of(text))
    words = [([characters[byte] for byte in word], count) for word, count in counts.items()]
    pairs_made = []
    for _ in range(merges):
        pairs = collections.Counter()
        for pieces, count in words:
            for pair in zip(pieces, pieces[1:]):
                pairs[pair] += count
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        pairs_made.append(best)
        for pieces, _ in words:
            i = 0
            while i + 1 < len(pieces):
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i:i + 2] = [pieces[i] + pieces[i + 1]]
                i += 1
    names = sorted(characters.values()) + ["".join(pair) for pair in pairs_made] + [SPECIAL]
    write_vocabulary(folder, {name: i for i, name in enumerate(names)}, pairs_made)


def write_vocabulary(folder, ids, pairs):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "vocab.json"), "w", encoding="utf-8") as file:
        json.dump(ids, file, ensure_ascii=False)
        file.write("\n")
    with open(os.path.join(folder, "merges.txt"), "w", encoding="utf-8") as file:
        file.write("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in pairs))


def write_part(folder, oracle):
    """The merges that the texts needed, in their order, and the tokens that these merge or make, with their own ids.

    A pair that is merged has the lowest rank of all pairs of its word. It has so, too, among fewer pairs, and so the texts
    have the same tokens as with the whole vocabulary.
    """
    pairs = sorted(oracle.merged, key=oracle.ranks.get)
    names = {*oracle.characters.values(), SPECIAL}.union(*((a, b, a + b) for a, b in pairs))
    write_vocabulary(folder, {name: id_ for name, id_ in oracle.ids.items() if name in names}, pairs)


def class_ranges(pattern):
    """The code points of a class, as first and last of each run."""
    matches = regex.compile(pattern).match
    members = [code for code in range(0x110000) if matches(chr(code))]
    ranges = []
    for code in members:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return ranges


def fnv1a(ids, hash_=0xCBF29CE484222325):
    for id_ in ids:
        hash_ = (hash_ ^ id_) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return hash_


def write(name, lines):
    with open(os.path.join(HERE, "goldens", name), "w", encoding="ascii") as file:
        file.writelines(line + "\n" for line in lines)


def write_goldens(name, oracle):
    lines = []
    for data in inputs.texts():
        for mode in "sp" if SPECIAL.encode() in data else "s":
            lines.append(" ".join([mode, data.hex() or "-"] + [str(i) for i in oracle.encode(data, mode == "s")]))
    write(f"{name}.txt", lines)
    # Many random texts; of their ids one hash for each hundred texts, as both sides can make the same texts.
    write(f"{name}_random.txt",
          (f"{fnv1a(i for n in range(100) for i in oracle.encode(inputs.random_text(block * 100 + n))):016x}"
           for block in range(inputs.RANDOM_BLOCKS)))


def main(command, *arguments):
    if command == "train":
        train("\n".join(inputs.SCRIPTS + inputs.CONTRACTIONS).encode(), 250, os.path.join(HERE, "tiny"))
    elif command == "goldens":
        os.makedirs(os.path.join(HERE, "goldens"), exist_ok=True)
        write("classes.txt", (f"{letter} {first:x} {last:x}" for letter, pattern in
                              (("L", r"\p{L}"), ("N", r"\p{N}"), ("s", r"\s"))
                              for first, last in class_ranges(pattern)))
        write("pieces.txt", (piece.hex() for piece in inputs.PIECES))
        write_goldens("tiny", Oracle(os.path.join(HERE, "tiny")))
        if arguments:
            gpt2 = Oracle(arguments[0])
            write_goldens("gpt2", gpt2)
            write_part(os.path.join(HERE, "gpt2_part"), gpt2)
    elif command == "encode":
        oracle = Oracle(arguments[0])
        for line in sys.stdin:
            mode, data = line.split()
            print(*oracle.encode(bytes.fromhex(data.replace("-", "")), mode == "s"))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*(sys.argv[1:] or [""]))
