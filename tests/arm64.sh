#!/usr/bin/env bash
# Builds headscope for 64-bit ARM on a Debian 12 of another kind of processor, runs the model's tests in an emulator (qemu), makes
# the .deb and runs its program, and compares what that writes with what this machine's build writes: activations to the bit, and
# the picture of every view to the pixel. Installs what it needs, as root. Takes about an hour on two cores, most of it emulation.
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
  "${program[@]}" predict --prompt "Once upon a" --top 3
  "${program[@]}" plot lens --prompt "Once upon a time" --out "$unpacked/lens.svg" >/dev/null
  grep -q '</svg>' "$unpacked/lens.svg" || { echo "the lens was not drawn" >&2; exit 1; }
  "${program[@]}" doctor | tee "$unpacked/doctor.txt"
  grep -q 'loops  *NEON' "$unpacked/doctor.txt" || { echo "doctor does not know NEON" >&2; exit 1; }
fi

if [[ " $* " == *" compare "* ]]; then
  # A build for the processor at hand rounds elsewhere, which shift's fit of many powers shows.
  portable=$(portable_program)
  [[ -d $unpacked ]] || unpack
  there=("${program[@]}") here=("$portable")
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  export XDG_CONFIG_HOME=$folder XDG_DATA_HOME=$folder XDG_CACHE_HOME=$folder XDG_STATE_HOME=$folder
  prompt='The cat and the dog ran to the sea, and the cat'
  differ=0
  # compare NAME ARGUMENT...: both programs' file, written with --out.
  compare() {
    local file=$1
    local place
    for place in here there; do
      local -n run=$place
      "${run[@]}" "${@:2}" --prompt "$prompt" --out "$folder/$place-$file" >/dev/null 2>"$folder/$place.txt" ||
        { echo "failed: ${run[*]} ${*:2}: $(tail -n 1 "$folder/$place.txt")"; differ=$((differ + 1)); return; }
    done
    cmp -s "$folder/here-$file" "$folder/there-$file" || { differ=$((differ + 1)); echo "differs: ${*:2}"; }
  }
  compare trace.safetensors trace
  views=$("${here[@]}" views --json | grep -oE '"id": *"[^"]+"' | cut -d'"' -f4)
  for view in $views; do compare "$view.png" plot "$view"; done
  [[ -n $views ]] || { echo "headscope views --json names no views" >&2; exit 1; }
  echo "compared the activations and the pictures of $(wc -w <<<"$views") views: $differ differ"
  ((differ == 0))
fi
