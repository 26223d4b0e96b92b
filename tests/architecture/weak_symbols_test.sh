#!/usr/bin/env bash
# weak_symbols_test.sh LIBRARY...: no two objects define the same weak symbol of an unnamed namespace. GCC 14 makes such a symbol
# of a template whose argument is an object or a function in there; the linker keeps one for both objects.
set -euo pipefail
twice=$(nm --defined-only "$@" | awk '$2 ~ /^[WVu]$/ && /_GLOBAL__N_/ { print $3 }' | sort | uniq -d | c++filt)
[[ -z $twice ]] || { printf 'FAILED: defined in two objects:\n%s\n' "$twice" >&2; exit 1; }
