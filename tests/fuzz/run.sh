#!/usr/bin/env bash
# Builds the preset fuzz and runs its targets one after the other, each from its corpus. What was found lies in
# build/fuzz/found/TARGET, beside libFuzzer's log; exit status 1: something was.
#
#   tests/fuzz/run.sh [-t SECONDS] [TARGET...]                                 each target, ten minutes at most
#   HEADSCOPE_FUZZ_TARGET=TARGET build/fuzz/tests/fuzz/headscope_fuzz FILE     one input, with what it breaks
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/cmake/setup.sh"
seconds=600
if [[ ${1-} == -t ]]; then seconds=$2; shift 2; fi
install_packages build run test fuzz
build fuzz headscope_fuzz
# Small files are written by the million: in memory, and gone with this script.
TMPDIR=$(mktemp -d /dev/shm/headscope-fuzz-XXXXXX)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
export ASAN_OPTIONS=quarantine_size_mb=32:allocator_may_return_null=0 UBSAN_OPTIONS=print_stacktrace=1

(($# > 0)) || set -- $(ls "$root/tests/fuzz/corpus")
status=0
for target in "$@"; do
  found=$root/build/fuzz/found/$target
  mkdir -p "$found/corpus"
  HEADSCOPE_FUZZ_TARGET=$target "$root/build/fuzz/tests/fuzz/headscope_fuzz" -timeout=10 -malloc_limit_mb=512 -rss_limit_mb=2048 \
    -max_total_time="$seconds" -artifact_prefix="$found/" "$found/corpus" "$root/tests/fuzz/corpus/$target" \
    >"$found/log" 2>&1 || status=1
  echo "$target: $(grep -aE '^#[0-9]+' "$found/log" | tail -1)"
done
exit $status
