#!/usr/bin/env bash
# install_test.sh BUILD_DIR: an installed headscope finds its assets beside itself after it was moved, and takes those
# rather than the source tree's.
set -euo pipefail
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/moved here"
program="$scratch/moved here/bin/headscope"
share="$scratch/moved here/share"
for file in headscope/examples/prompts.md headscope/guide/views.md headscope/guide/glossary.md applications/headscope.desktop icons/hicolor/scalable/apps/headscope.svg; do
  [[ -s $share/$file ]] || fail "share/$file was not installed"
done

cd /
"$program" info --json | python3 -c 'import json, sys; json.load(sys.stdin)' || fail "info --json of the installed program"

echo '{ this is no JSON' >"$share/headscope/models/tales/config.json"
if message=$("$program" info --json 2>&1); then fail "it read another config.json than the one beside it"; fi
[[ $message == *"$share/headscope/models/tales/config.json"* ]] || fail "the message names another file: $message"
