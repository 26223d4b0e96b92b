#!/usr/bin/env bash
# strings_test.sh WORDS_TESTS ROOT FOLDER: writes what the program's tables say to FOLDER/tables.txt and every string of the
# program to FOLDER/strings.txt, and fails if one has a phrase of phrases.txt. Then a string with such a phrase must fail.
set -euo pipefail
tests=$1 root=$2 folder=$3
here=$(dirname "${BASH_SOURCE[0]}")
HEADSCOPE_TABLES=$folder/tables.txt "$tests" --gtest_filter=Tables.AreWritten --gtest_brief=1
[[ $(wc -l <"$folder/tables.txt") -gt 500 ]] || { echo "FAILED: tables.txt has too few lines"; exit 1; }
python3 "$here/strings.py" "$root" "$folder/strings.txt" --tables "$folder/tables.txt" --phrases "$here/phrases.txt"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf 'here\tthe picture is made anew\n' >"$scratch/tables.txt"
if python3 "$here/strings.py" "$root" "$scratch/strings.txt" --tables "$scratch/tables.txt" --phrases "$here/phrases.txt" \
    >"$scratch/said.txt"; then
  echo "FAILED: a phrase was not found" && exit 1
fi
grep -q 'here: “made anew”' "$scratch/said.txt"
