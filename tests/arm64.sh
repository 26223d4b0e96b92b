#!/usr/bin/env bash
# Builds headscope for 64-bit ARM on a Debian 12 of another kind of processor, runs the model's tests in an emulator (qemu), and
# compares what the program writes with what this machine's build writes: activations to the bit, and the picture of every view
# to the pixel. Installs what it needs, as root. Takes about an hour on two cores, most of it emulation.
#
#   tests/arm64.sh              all of it
#   tests/arm64.sh build model  some parts: build, model, compare
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/cmake/setup.sh"
(($# > 0)) || set -- build model compare
tree=$root/build/arm64

# The libraries' arm64 packages live beside this machine's own.
install_arm64_packages() {
  install_packages build test arm64
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
  (cd "$root" && cmake --preset arm64 && cmake --build --preset arm64 --target headscope model_tests) >&2
fi

if [[ " $* " == *" model "* ]]; then
  for test in "$tree"/tests/model/*_tests; do qemu-aarch64-static "$test" --gtest_brief=1; done
fi

if [[ " $* " == *" compare "* ]]; then
  build portable headscope  # others compute for the processor at hand, and shift's fit of many powers shows the rounding
  there=(qemu-aarch64-static "$tree/app/headscope") here=("$root/build/portable/app/headscope")
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
      local -n program=$place
      "${program[@]}" "${@:2}" --prompt "$prompt" --out "$folder/$place-$file" >/dev/null 2>"$folder/$place.txt" ||
        { echo "failed: ${program[*]} ${*:2}: $(tail -n 1 "$folder/$place.txt")"; differ=$((differ + 1)); return; }
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
