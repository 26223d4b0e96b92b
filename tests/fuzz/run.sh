#!/usr/bin/env bash
# Builds the preset fuzz and runs its targets one after the other, each from its corpus. One line a target on standard
# output: inputs, edges that were covered, inputs that are kept for them, findings. What was found lies in
# build/fuzz/found/TARGET; exit status 1: something was.
#
#   tests/fuzz/run.sh                          a million inputs each, ten minutes at most
#   tests/fuzz/run.sh -n 20000 -t 60 config    so many, so many seconds, these targets
#   tests/fuzz/run.sh -r FILE TARGET           one input, with what it breaks
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/cmake/setup.sh"
runs=1000000 seconds=600 replay=
while getopts n:t:r: option; do
  case $option in
    n) runs=$OPTARG ;;
    t) seconds=$OPTARG ;;
    r) replay=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))

program=${HEADSCOPE_FUZZ_PROGRAM:-}
if [[ -z $program ]]; then
  install_packages build run test fuzz
  build fuzz headscope_fuzz
  program=$root/build/fuzz/tests/fuzz/headscope_fuzz
fi
found=$root/build/fuzz/found
# Small files are written by the million: in memory, and gone with this script.
TMPDIR=$(mktemp -d /dev/shm/headscope-fuzz-XXXXXX)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
export ASAN_OPTIONS=quarantine_size_mb=32:allocator_may_return_null=0 UBSAN_OPTIONS=print_stacktrace=1
limits=(-timeout=10 -malloc_limit_mb=512 -rss_limit_mb=2048)

if [[ -n $replay ]]; then
  "$program" "$1" "${limits[@]}" "$replay"
  exit
fi

targets=("$@")
if ((${#targets[@]} == 0)); then
  for folder in "$root"/tests/fuzz/corpus/*/; do targets+=("$(basename "$folder")"); done
fi
status=0
printf '%-16s %10s %8s %8s %9s\n' target inputs edges corpus findings
for target in "${targets[@]}"; do
  mkdir -p "$found/$target/corpus"
  log=$found/$target/log
  "$program" "$target" "${limits[@]}" -runs="$runs" -max_total_time="$seconds" \
    -artifact_prefix="$found/$target/" "$found/$target/corpus" "$root/tests/fuzz/corpus/$target" >"$log" 2>&1 || status=1
  findings=$(find "$found/$target" -maxdepth 1 -type f \( -name 'crash-*' -o -name 'oom-*' -o -name 'timeout-*' -o -name 'leak-*' \) | wc -l)
  last=$(grep -aE "^#[0-9]+" "$log" | tail -1 || true)
  printf '%-16s %10s %8s %8s %9s\n' "$target" "$(sed -E 's/^#([0-9]+).*/\1/' <<<"$last")" \
    "$(sed -nE 's/.* cov: ([0-9]+).*/\1/p' <<<"$last")" "$(sed -nE 's/.* corp: ([0-9]+).*/\1/p' <<<"$last")" "$findings"
done
exit $status
