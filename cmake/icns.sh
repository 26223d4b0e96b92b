#!/usr/bin/env bash
# icns.sh DRAWING.svg OUT.icns: an icon for macOS, whose format is a list of PNG files of several sizes. Takes rsvg-convert.
set -euo pipefail
drawing=$1 out=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Four bytes, the highest first.
bytes_of() {
  local n=$1
  printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $((n >> 24 & 255)) $((n >> 16 & 255)) $((n >> 8 & 255)) $((n & 255)))"
}

for entry in ic11:32 ic12:64 ic07:128 ic08:256 ic09:512 ic10:1024; do
  png=$folder/${entry%:*}.png
  rsvg-convert -w "${entry#*:}" -h "${entry#*:}" "$drawing" -o "$png"
  { printf '%s' "${entry%:*}"; bytes_of $((8 + $(wc -c <"$png"))); cat "$png"; } >>"$folder/entries"
done
{ printf icns; bytes_of $((8 + $(wc -c <"$folder/entries"))); cat "$folder/entries"; } >"$out"
