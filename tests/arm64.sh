#!/usr/bin/env bash
# Builds headscope for 64-bit ARM on a Debian 12 of another kind of processor, runs the model's tests in an emulator (qemu), makes
# the .deb and runs its program, and compares the numbers of every view with those of this machine's build, within 1e-6. Installs
# what it needs, as root. Takes about an hour on two cores, most of it emulation.
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
  /usr/bin/python3 - "$portable" "${program[@]}" <<'END'
import json, subprocess, sys

PROMPT = "The cat and the dog ran to the sea, and the cat"
HERE, THERE = sys.argv[1:2], sys.argv[2:]

def answer(program, *words):
    return json.loads(subprocess.run([*program, *words, "--json"], stdout=subprocess.PIPE, check=True).stdout)

def same(a, b, largest=1):
    """Numbers within 1e-6 of the largest one in their column, or of 1."""
    if isinstance(a, list):
        largest = max([largest, *(abs(x) for x in a if isinstance(x, (int, float)))])
        return len(a) == len(b) and all(same(x, y, largest) for x, y in zip(a, b))
    return abs(a - b) <= 1e-6 * largest if isinstance(a, float) and isinstance(b, (int, float)) else a == b

views = [view["id"] for view in answer(HERE, "views")["views"]]
wrong = 0
for view in views:
    here, there = (answer(program, view, "--prompt", PROMPT)["columns"] for program in (HERE, THERE))
    differ = [name for name in here.keys() | there.keys() if not same(here.get(name), there.get(name))]
    if differ:
        wrong += 1
        print(f"{view} differs: {', '.join(differ)}")
print(f"compared the numbers of {len(views)} views: {wrong} differ")
sys.exit(wrong > 0)
END
fi
