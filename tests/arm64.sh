#!/usr/bin/env bash
# Builds headscope for 64-bit ARM on a Debian 12 of another kind of processor, runs the model's tests in an emulator (qemu), makes
# the .deb and runs its program, and compares what that writes with what this machine's build writes: activations and the numbers of
# every view within 1e-6. Installs what it needs, as root. Takes about an hour on two cores, most of it emulation.
#
#   tests/arm64.sh              all of it
#   tests/arm64.sh build model  some parts: build, model, package, compare
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/cmake/setup.sh"
(($# > 0)) || set -- build model package compare

# The libraries' arm64 packages live beside this machine's own.
install_arm64_packages() {
  install_packages build test package arm64
  dpkg --print-foreign-architectures | grep -qx arm64 || { dpkg --add-architecture arm64 && apt-get -q update; } >&2
  local package missing=()
  for package in $(packages build test | grep -e '-dev$'); do
    dpkg-query -W -f '${db:Status-Status}\n' "$package:arm64" "$package:all" 2>/dev/null | grep -q '^installed' ||
      missing+=("$package:arm64")
  done
  ((${#missing[@]} == 0)) || DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "${missing[@]}" >&2
}

if [[ " $* " == *" build "* ]]; then
  install_arm64_packages
  (cd "$root" && cmake --preset arm64 && cmake --build --preset arm64 --target model_tests) >&2
  (cd "$root" && cmake --preset package --toolchain cmake/aarch64.cmake -B build/arm64-package && cmake --build build/arm64-package) >&2
  (cd "$root/build/arm64-package" && cpack) >&2
fi

if [[ " $* " == *" model "* ]]; then
  for test in "$root"/build/arm64/tests/model/*_tests; do qemu-aarch64-static "$test" --gtest_brief=1; done
fi

# What the .deb says and holds, and its program where it is unpacked.
unpacked=$root/build/arm64-package/unpacked
program=(qemu-aarch64-static "$unpacked/usr/bin/headscope")
unpack() {
  rm -rf "$unpacked"
  dpkg-deb -x "$root"/build/arm64-package/headscope_*_arm64.deb "$unpacked"
}

if [[ " $* " == *" package "* ]]; then
  unpack
  deb=$(echo "$root"/build/arm64-package/headscope_*_arm64.deb)
  dpkg-deb -f "$deb" Package Version Architecture Depends
  [[ $(dpkg-deb -f "$deb" Architecture) == arm64 ]] || { echo "$deb is not for arm64" >&2; exit 1; }
  file -b "$unpacked/usr/bin/headscope" | grep -q 'ARM aarch64' || { echo "its program is not for ARM" >&2; exit 1; }
  for file in share/man/man1/headscope.1.gz share/headscope/models/tales/model.safetensors share/headscope/guide/views.md; do
    [[ -f $unpacked/usr/$file ]] || { echo "$deb has no usr/$file" >&2; exit 1; }
  done
  "${program[@]}" --version
  "${program[@]}" predict --prompt "Once upon a" --count 3
  "${program[@]}" lens --prompt "Once upon a time" --out "$unpacked/lens.svg" >/dev/null
  grep -q '</svg>' "$unpacked/lens.svg" || { echo "the lens was not drawn" >&2; exit 1; }
  "${program[@]}" doctor | tee "$unpacked/doctor.txt"
  grep -q 'loops  *NEON' "$unpacked/doctor.txt" || { echo "doctor does not know NEON" >&2; exit 1; }
fi

if [[ " $* " == *" compare "* ]]; then
  portable=$(portable_program)
  [[ -d $unpacked ]] || unpack
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  export XDG_CONFIG_HOME=$folder XDG_DATA_HOME=$folder XDG_CACHE_HOME=$folder XDG_STATE_HOME=$folder
  # Not shift, which multiplies roundings on purpose.
  views=$("$portable" views --json | grep -oE '"id": *"[^"]+"' | cut -d'"' -f4 | grep -vx shift)
  # write FOLDER PROGRAM...: what the program finds out about a prompt.
  write() {
    local prompt='The cat and the dog ran to the sea, and the cat'
    mkdir "$1"
    "${@:2}" trace --prompt "$prompt" --out "$1/trace.safetensors" >/dev/null
    local view
    for view in $views; do "${@:2}" "$view" --prompt "$prompt" --out "$1/$view.csv"; done
  }
  write "$folder/here" "$portable"
  write "$folder/there" "${program[@]}"
  PYTHONPATH=$root/tests/model/reference PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$folder/here" "$folder/there" <<'END'
import csv, sys
from pathlib import Path
import numpy
import safetensors_io

def columns(table):
    """Its columns as numbers; what is none counts as NaN, and is in the texts."""
    def number(cell):
        try: return float(cell), ""
        except ValueError: return numpy.nan, cell
    rows = [[number(cell) for cell in row] for row in csv.reader(table.open(newline=""))]
    return {j: (numpy.array([row[j][0] for row in rows]), [row[j][1] for row in rows]) for j in range(len(rows[0]))}

def read(file):
    if file.suffix == ".csv": return columns(file)
    return {name: (values, values.shape) for name, values in safetensors_io.read(file).items()}

def same(a, b):
    """Within 1e-6 of the largest magnitude, or of 1."""
    largest = numpy.abs(a[numpy.isfinite(a)]).max(initial=1)
    return numpy.allclose(a, b, rtol=0, atol=1e-6 * largest, equal_nan=True)

here, there = map(Path, sys.argv[1:])
files = sorted(file.name for file in here.iterdir())
if len(files) < 30 or files != sorted(file.name for file in there.iterdir()): sys.exit("not every view wrote its table")
differ = 0
for name in files:
    a, b = read(here / name), read(there / name)
    wrong = [part for part in a if part not in b or a[part][1] != b[part][1] or not same(a[part][0], b[part][0])]
    if wrong or len(a) != len(b):
        differ += 1
        print(f"{name} differs: {', '.join(map(str, wrong))}")
print(f"compared the activations and the numbers of {len(files) - 1} views: {differ} differ")
sys.exit(differ > 0)
END
fi
