#!/usr/bin/env bash
# The Windows program, built on Linux and run by Wine: its tests, every view's picture beside that of the Linux program, and the
# window on an X server of its own. Installs what it needs of Debian's packages.
#
#   tests/windows.sh                    all of it
#   tests/windows.sh views window       some of it: build, tests, views, window, zip
#
#   HEADSCOPE_LINUX=PROGRAM             what to compare with; usual: the preset portable, which is built if it is missing. Others
#                                       compute for the processor at hand, and shift's fit of many powers shows the rounding
#   HEADSCOPE_OUT=FOLDER                keeps pictures and reports; usual: build/windows/pictures
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/cmake/setup.sh"
parts=("$@")
((${#parts[@]} > 0)) || parts=(build tests views window zip)
program=$root/build/windows/app/headscope.exe
out=${HEADSCOPE_OUT:-$root/build/windows/pictures}
wine=$(command -v wine64 || command -v wine || echo /usr/lib/wine/wine64)

# A Windows of its own, with this machine's fonts, so that both programs draw with the same ones.
export WINEPREFIX=$root/build/windows/wine WINEDEBUG=${WINEDEBUG:--all} WINEDLLOVERRIDES="mscoree=;mshtml="
start_windows() {
  local fonts
  [[ -d $WINEPREFIX/drive_c/windows ]] || "$wine" wineboot --init >/dev/null 2>&1
  fonts=$(find "$WINEPREFIX/drive_c/users" -maxdepth 1 -type d ! -name Public ! -name users | head -1)/AppData/Local/Microsoft/Windows
  mkdir -p "$fonts"
  ln -sfn /usr/share/fonts "$fonts/Fonts"
}
on_windows() { "$wine" "$program" "$@"; }

# What a person with no model of their own sees first, and letters and signs of other scripts.
prompts=("The old king had a daughter, and the old king" "Zoë — naïve café, 中文 and 😀")

compare_views() {
  local linux=${HEADSCOPE_LINUX:-$root/build/portable/app/headscope} view n
  if [[ ! -x $linux ]]; then
    install_packages build run
    build portable headscope
  fi
  mkdir -p "$out"/{linux,windows}
  rm -f "$out"/{linux,windows}/*.png
  for view in $("$linux" views --json | grep -oE '"id": *"[^"]+"' | cut -d'"' -f4); do
    for n in "${!prompts[@]}"; do
      local name=$view-$n.png
      "$linux" plot "$view" --prompt "${prompts[n]}" --out "$out/linux/$name" >/dev/null 2>"$out/linux/$name.txt" || true
      on_windows plot "$view" --prompt "${prompts[n]}" --out "Z:${out//\//\\}\\windows\\$name" >/dev/null 2>"$out/windows/$name.txt" || true
    done
  done
  /usr/bin/python3 - "$out" <<'PYTHON'
import pathlib, sys
import numpy
from PIL import Image
out = pathlib.Path(sys.argv[1])
report, same = [], 0
names = {file.name for folder in ("linux", "windows") for file in (out / folder).glob("*.png")}
for name in sorted(names):
    files = [out / folder / name for folder in ("linux", "windows")]
    if not all(file.exists() for file in files):
        report.append(f"{name}: only {'Linux' if files[0].exists() else 'Windows'} has it")
        continue
    pictures = [numpy.asarray(Image.open(file).convert("RGBA"), dtype=int) for file in files]
    if pictures[0].shape != pictures[1].shape:
        report.append(f"{name}: {pictures[0].shape[1::-1]} pixels on Linux, {pictures[1].shape[1::-1]} on Windows")
        continue
    apart = numpy.abs(pictures[0] - pictures[1]).max(axis=2)
    if apart.any():
        rows, columns = numpy.nonzero(apart)
        report.append(f"{name}: {(apart > 0).sum()} of {apart.size} pixels differ, by up to {apart.max()} of 255, "
                      f"within {columns.min()},{rows.min()} to {columns.max()},{rows.max()}")
    else:
        same += 1
text = "\n".join(report + [f"{same} of {len(names)} pictures are the same to the pixel"]) + "\n"
(out / "report.txt").write_text(text)
print(text, end="")
sys.exit(bool(report) or not names)
PYTHON
}

show_window() {
  local display process seconds
  mkdir -p "$out"
  Xvfb -displayfd 5 -screen 0 1800x1200x24 5>"$out/display" >/dev/null 2>&1 &
  local server=$!
  for seconds in {1..20}; do [[ -s $out/display ]] && break; sleep 0.5; done
  display=:$(<"$out/display")
  DISPLAY=$display on_windows --prompt "${prompts[0]}" >"$out/window.txt" 2>&1 &
  process=$!
  local status=1
  # Until the window has other than a few colours, at most two minutes.
  for seconds in {1..60}; do
    sleep 2
    kill -0 $process 2>/dev/null || break
    DISPLAY=$display import -window root "$out/window.png" 2>/dev/null || continue
    (($(identify -format %k "$out/window.png") > 100)) && status=0 && break
  done
  if ((status == 0)); then sleep 5; DISPLAY=$display import -window root "$out/window.png"; fi
  kill $process 2>/dev/null || true
  wineserver -k 2>/dev/null || true  # of this prefix alone
  kill $server 2>/dev/null || true
  wait 2>/dev/null || true
  ((status == 0)) && echo "the window: $out/window.png" || { echo "the window did not appear:" >&2; cat "$out/window.txt" >&2; }
  return $status
}

status=0
for part in "${parts[@]}"; do
  echo "== $part"
  case $part in
    build)
      install_packages build test windows
      "$root/cmake/windows_libraries.sh" >/dev/null
      (cd "$root" && cmake --preset windows && cmake --build --preset windows)
      ;;
    tests) start_windows; (cd "$root" && ctest --preset windows) || status=1 ;;
    views) start_windows; compare_views || status=1 ;;
    window) start_windows; show_window || status=1 ;;
    zip) (cd "$root" && cmake --preset windows-package && cmake --build --preset windows-package && cpack --preset windows-package) || status=1 ;;
    *) echo "there is no part $part" >&2; exit 2 ;;
  esac
done
exit $status
