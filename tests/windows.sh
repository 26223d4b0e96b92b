#!/usr/bin/env bash
# The Windows program, built on Linux and run by Wine: its tests, every view's picture and the window beside those of the Linux
# program, and the installer. Installs what it needs of Debian's packages.
#
#   tests/windows.sh                    all of it, on two cores about half an hour and the time to build
#   tests/windows.sh views window       some of it: build, tests, views, window, package, installer
#   tests/windows.sh tests -R e2e       words with a dash, and what follows them, are ctest's
#
#   HEADSCOPE_LINUX=PROGRAM             what to compare with; usual: one built for any processor. Others compute for the
#                                       processor at hand, which rounds elsewhere
#   HEADSCOPE_OUT=FOLDER                keeps pictures and reports; usual: build/windows/out
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/cmake/setup.sh"
source "$root/tests/windows/wine.sh"
parts=() for_ctest=()
for word in "$@"; do
  if ((${#for_ctest[@]} > 0)) || [[ $word == -* ]]; then for_ctest+=("$word"); else parts+=("$word"); fi
done
((${#parts[@]} > 0)) || parts=(build tests views window package installer)
program=$root/build/windows/app/headscope
linux=${HEADSCOPE_LINUX-}
out=${HEADSCOPE_OUT:-$root/build/windows/out}
mkdir -p "$out"

build_all() {
  install_packages build run test windows
  "$root/cmake/windows_libraries.sh" >/dev/null
  (cd "$root" && cmake --preset windows && cmake --build --preset windows)
}

linux_program() {
  [[ -n $linux ]] || linux=$(portable_program)
}

run_tests() {
  (cd "$root" && ctest --preset windows --parallel "$(nproc)" "${for_ctest[@]}")
}

# differing A.png B.png FUZZ: how many pixels differ by more than that; from a million on with an exponent.
differing() { compare -metric AE -fuzz "$3" "$1" "$2" null: 2>&1 || true; }

# What a person with no model of their own sees first, and letters and signs of other scripts.
prompts=("The old king had a daughter, and the old king" "Zoë — naïve café, 中文 and 😀")

# Every view's picture of each prompt: no pixel may differ.
compare_views() {
  linux_program
  mkdir -p "$out"/{linux,windows}
  local view number name count=0 wrong=0
  for view in $("$linux" views --json | grep -oE '"id": *"[^"]+"' | cut -d'"' -f4); do
    for number in "${!prompts[@]}"; do
      name=$view-$number.png
      rm -f "$out"/{linux,windows}/"$name"
      "$linux" "$view" --prompt "${prompts[number]}" --out "$out/linux/$name" &&
        "$program" "$view" --prompt "${prompts[number]}" --out "$out/windows/$name" &&
        [[ $(differing "$out"/{linux,windows}/"$name" 0) == 0 ]] || { echo "$name is not the same"; wrong=$((wrong + 1)); }
      count=$((count + 1))
    done
  done
  echo "$wrong of $count pictures are not the same to the pixel"
  ((count > 0 && wrong == 0))
}

# window_picture NAME PROGRAM...: a picture of its window, once that has been the same for two seconds.
window_picture() {
  local name=$1 window process before='' now turn status=1
  start_display "$out" 1700x1100
  XDG_CONFIG_HOME=$out/none XDG_STATE_HOME=$out/none "${@:2}" --prompt "The old king had a daughter" >"$out/$name.txt" 2>&1 &
  process=$!
  if find_window $process; then
    sleep 3
    xdotool mousemove 1690 1090
    for turn in {1..30}; do
      sleep 2
      window=$(xdotool search --onlyvisible --name headscope | tail -n 1)
      xdotool windowfocus "$window" || true
      import -window "$window" "$out/$name.png" || continue
      now=$(identify -format '%#' "$out/$name.png")
      if [[ $now == "$before" ]] && (($(identify -format %k "$out/$name.png") > 100)); then status=0 && break; fi
      before=$now
    done
    close_window $process || status=1
  fi
  stop_display
  ((status == 0)) || { echo "$name: no window that stands still, or it ended badly" >&2; cat "$out/$name.txt" >&2; }
  return $status
}

# Both draw by the same software OpenGL, but through other libraries and with another rounding of triangles' edges: 0.3 % of all
# pixels may differ by more than 24 of 255, as in the tests of OpenGL's pixels on Linux.
compare_windows() {
  linux_program
  rm -rf "$out/none" "$(profile)"/AppData/{Roaming,Local}/headscope
  window_picture window-linux "$linux" && window_picture window-windows "$program" || return 1
  local pixels count
  pixels=$(($(identify -format '%w*%h' "$out/window-linux.png")))
  count=$(differing "$out"/window-{linux,windows}.png 9.4%)
  echo "$count of $pixels pixels differ visibly"
  [[ $count =~ ^[0-9]+$ ]] && ((count * 1000 <= pixels * 3))
}

package() {
  (cd "$root" && cpack --preset windows)
}

status=0
for part in "${parts[@]}"; do
  echo "== $part"
  begun=$SECONDS
  good=yes
  case $part in
    build) build_all ;;
    tests) start_windows "$root/build/windows/wine"; start_desktop; run_tests || good=no; stop_windows ;;
    views) start_windows "$root/build/windows/wine"; compare_views || good=no; stop_windows ;;
    window) start_windows "$root/build/windows/wine"; compare_windows || good=no; stop_windows ;;
    package) package ;;
    installer)
      "$root/tests/windows/installer.sh" "$root"/build/windows/headscope-*-win64.exe "$root/tests/windows/session.headscope" \
        "$out" || good=no
      ;;
    *) echo "there is no part $part" >&2; exit 2 ;;
  esac
  [[ $good == yes ]] || status=1
  echo "== $part: $([[ $good == yes ]] && echo good || echo FAILED), $((SECONDS - begun)) seconds"
done
exit $status
