#!/usr/bin/env bash
# Starts headscope. The first time it installs what is missing from Debian's packages and builds a release.
#
#   ./run.sh                        the window on the bundled model, or pictures where there is no display
#   ./run.sh --model DIR            the arguments are headscope's own
#   ./run.sh predict --prompt TEXT
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$root/cmake/setup.sh"

program=$root/build/release/app/headscope
if ! [[ -x $program ]] || ! is_built release; then
  install_packages build run
  build release headscope
fi

if (($# > 0)) || [[ -n ${DISPLAY:-} || -n ${WAYLAND_DISPLAY:-} ]]; then
  exec "$program" "$@"
fi

# The first of the example prompts.
example=$(awk '/^- prompt: / { sub(/^- prompt: /, ""); print; exit }' "$root/assets/examples/prompts.md")
pictures=headscope-out
echo "There is no display for the window, so here are pictures of the example prompt:"
mkdir -p "$pictures"
for view in $("$program" views --json | grep -oE '"id": *"[^"]+"' | cut -d'"' -f4); do
  "$program" "$view" --prompt "$example" --out "$pictures/$view.png" >/dev/null
  echo "$pictures/$view.png"
done
"$program" shot --out "$pictures/window.png" >/dev/null
echo "$pictures/window.png"
