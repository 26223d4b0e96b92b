#!/bin/sh
# libraries_test.sh WINE PROGRAM: a picture is made without the libraries of windows, networks and clipboards, which take longer to
# start than the picture does.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
WINEDEBUG=+loaddll "$1" "$2" heatmap --prompt "Once upon a time" --out "$folder/a.png" 2>"$folder/loaded"
[ -f "$folder/a.png" ] || { echo "no picture was made" >&2; cat "$folder/loaded" >&2; exit 1; }
grep -qi 'loaded.*kernel32\.dll' "$folder/loaded" || { echo "Wine did not say what it opened" >&2; exit 1; }
if grep -iE 'loaded.*\\(user32|gdi32|opengl32|shell32|ole32|ws2_32|crypt32)\.dll' "$folder/loaded" >&2; then
  echo "these were opened" >&2
  exit 1
fi
