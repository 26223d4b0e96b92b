#!/usr/bin/env bash
# Installs what is missing from Debian's packages, builds the tests and runs all of them, without a display or a GPU.
#
#   ./test.sh                                     everything
#   ./test.sh -R model_tests                      the arguments are ctest's own
#   HEADSCOPE_PRESET=asan-ubsan ./test.sh         another preset of CMakePresets.json
#
# Single cases, once built: build/test/tests/model/model_tests --gtest_filter='Tokenizer*'
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$root/cmake/setup.sh"
preset=${HEADSCOPE_PRESET:-test}

install_packages build run test
build "$preset" all

# The tests bring their own X server; they should neither use nor need the one of the person at the keyboard.
unset DISPLAY WAYLAND_DISPLAY
cd "$root"
exec ctest --preset "$preset" --parallel "$(nproc)" "$@"
