"""Reads and writes safetensors with numpy alone (see https://github.com/huggingface/safetensors, "Format")."""
import json
import struct

import numpy as np

NUMPY_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}


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
            file.write(values.astype(NUMPY_TYPES[dtype]).tobytes())


def read(path):
    """All tensors by name."""
    with open(path, "rb") as file:
        data = file.read()
    body = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:body].decode("utf-8", "strict"))
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[body + begin:body + end], NUMPY_TYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors
