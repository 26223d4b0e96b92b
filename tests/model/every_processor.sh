#!/usr/bin/env bash
# Builds the model's tests for other processors, and with Clang, and runs those that this processor can run: what the
# numbers are must not depend on what a compiler makes of the loops for the processor it tunes for.
#
#   tests/model/every_processor.sh                 all of them, some minutes each
#   tests/model/every_processor.sh x86-64 clang    some
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
test=model_forward_tests

# name | C++ compiler | -march | more flags. GCC 12 does not know Zen 4: tuned for Zen 3 it avoids chains of fused steps, too.
variants='x86-64         | g++     | x86-64         |
x86-64-v3      | g++     | x86-64-v3      |
x86-64-v4      | g++     | x86-64-v4      |
zen            | g++     | x86-64-v4      | -mtune=znver3
znver4         | g++     | znver4         |
skylake-avx512 | g++     | skylake-avx512 |
clang          | clang++ | native         |'

failed=0
while IFS='|' read -r name compiler march flags; do
  name=${name// /} compiler=${compiler// /} march=${march// /} flags=${flags# }
  (($# == 0)) || [[ " $* " == *" $name "* ]] || continue
  if ! echo | "$compiler" -march="$march" $flags -E -x c++ - >/dev/null 2>&1; then
    echo "$name: not tried; $compiler is not installed or does not know this processor"
    continue
  fi
  tree=$root/build/every-processor/$name
  cmake -S "$root" -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$compiler" \
    -DHEADSCOPE_MARCH="$march" -DCMAKE_CXX_FLAGS="$flags" >/dev/null
  cmake --build "$tree" --target "$test" >"$tree/build.log" || { cat "$tree/build.log"; exit 1; }
  status=0
  "$tree/tests/model/$test" --gtest_brief=1 >"$tree/test.log" 2>&1 || status=$?
  case $status in
    0) echo "$name: $(tail -n 1 "$tree/test.log")" ;;
    132) echo "$name: built; this processor lacks some of its instructions" ;;  # SIGILL
    *) failed=1; cat "$tree/test.log"; echo "$name: FAILED" ;;
  esac
done <<<"$variants"
exit "$failed"
