"""Reads and writes safetensors with numpy alone (see https://github.com/huggingface/safetensors, "Format")."""
import json
import struct
import sys

import numpy as np

NUMPY_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2",
    "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?",
}


def to_bfloat16_bits(values):
    """The nearest bfloat16, ties to even, as uint16. Finite values only."""
    bits = np.ascontiguousarray(values, dtype="<f4").view("<u4").astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def from_bfloat16_bits(bits):
    return (bits.astype("<u4") << 16).view("<f4")


def rounded(values, dtype):
    """The values as they are after being stored as `dtype`."""
    if dtype == "BF16":
        return from_bfloat16_bits(to_bfloat16_bits(values))
    return values.astype(NUMPY_TYPES[dtype]).astype("<f4")


def write(path, tensors, metadata=None):
    """tensors: a list of (name, dtype, shape, function) whose function gives the values, so that no more than one of them need be
    in memory."""
    header, offset = {}, 0
    if metadata:
        header["__metadata__"] = metadata
    for name, dtype, shape, _ in tensors:
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(NUMPY_TYPES[dtype]).itemsize
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for name, dtype, shape, function in tensors:
            values = np.asarray(function())
            assert values.shape == tuple(shape), (name, values.shape, shape)
            bits = to_bfloat16_bits(values) if dtype == "BF16" else values.astype(NUMPY_TYPES[dtype])
            file.write(bits.tobytes())


def unique(pairs):
    assert len(pairs) == len(dict(pairs)), "a key stands twice"
    return dict(pairs)


def read(path):
    """All tensors by name; BF16 comes widened to float32. As strict as the format requires and Hugging Face's own loader is."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    assert length <= 100_000_000 and 8 + length <= len(data), "header length"
    assert (8 + length) % 8 == 0, "the data must start aligned to 8 bytes"
    text = data[8:8 + length].decode("utf-8", "strict")
    assert text.startswith("{"), "the header must start with {"
    header = json.loads(text, object_pairs_hook=unique)
    assert all(isinstance(value, str) for value in header.pop("__metadata__", {}).values()), "metadata must be strings"
    body, tensors, end = memoryview(data)[8 + length:], {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        assert set(entry) == {"dtype", "shape", "data_offsets"}, entry
        begin, stop = entry["data_offsets"]
        assert begin == end, f"a hole or an overlap before {name}"
        kind = np.dtype(NUMPY_TYPES[entry["dtype"]])
        assert stop - begin == int(np.prod(entry["shape"], dtype=np.int64)) * kind.itemsize, f"the length of {name}"
        assert begin % kind.itemsize == 0, f"the alignment of {name}"
        values = np.frombuffer(body[begin:stop], dtype=kind).reshape(entry["shape"])
        tensors[name] = from_bfloat16_bits(values) if entry["dtype"] == "BF16" else values
        end = stop
    assert end == len(body), "bytes that belong to no tensor"
    return tensors


assert sys.byteorder == "little"
