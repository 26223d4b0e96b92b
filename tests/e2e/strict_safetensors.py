"""Reads a safetensors file as strictly as the published format requires (and as Hugging Face's own loader checks it)."""
import json
import struct

import numpy as np

TYPES = {"F32": "<f4", "I64": "<i8", "F16": "<f2"}


def unique(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), "a key stands twice"
    return dict(pairs)


def read(path):
    """(tensors by name, metadata)"""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    assert length <= 100_000_000 and 8 + length <= len(data), "header length"
    assert (8 + length) % 8 == 0, "the data must start aligned to 8 bytes"
    text = data[8:8 + length].decode("utf-8", "strict")
    assert text.startswith("{"), "the header must start with {"
    header = json.loads(text, object_pairs_hook=unique)
    metadata = header.pop("__metadata__", {})
    assert all(isinstance(value, str) for value in metadata.values()), "metadata must be strings"

    body = memoryview(data)[8 + length:]
    tensors, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        assert set(entry) == {"dtype", "shape", "data_offsets"}, entry
        start, stop = entry["data_offsets"]
        assert start == end, f"a hole or an overlap before {name}"
        kind = np.dtype(TYPES[entry["dtype"]])
        count = int(np.prod(entry["shape"], dtype=np.int64))
        assert stop - start == count * kind.itemsize, f"the length of {name}"
        assert start % kind.itemsize == 0, f"the alignment of {name}"
        tensors[name] = np.frombuffer(body[start:stop], dtype=kind).reshape(entry["shape"])
        end = stop
    assert end == len(body), "bytes that belong to no tensor"
    return tensors, metadata
