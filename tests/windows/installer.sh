#!/usr/bin/env bash
# installer.sh INSTALLER SESSION OUT: installs without questions into a fresh Windows of Wine, uses what was installed, installs again
# over it, and removes it: files and registry are then as before. Settings go only when that is asked for.
set -euo pipefail
installer=$(realpath "$1") session=$(realpath "$2") out=$(realpath "$3")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/tests/windows/wine.sh"
fail() { echo "FAILED: $*" >&2; exit 1; }
trap 'echo "FAILED: line $LINENO ended with status $?" >&2' ERR

[[ ! -d $out/wine ]] || WINEPREFIX=$out/wine "$wineserver" -k || true  # one that a test left when it was stopped
rm -rf "$out/wine" && mkdir -p "$out/wine"
export USER='Zoë Ω'  # the name of the user's folder
start_windows "$out/wine"
start_display "$out" 1700x1100
trap 'stop_windows; stop_display' EXIT
"$wine" reg add 'HKCU\Software\Classes' /f >/dev/null  # every Windows has it
home=$(profile)
installed=$home/AppData/Local/Programs/headscope
settings=$home/AppData/Roaming/headscope kept=$home/AppData/Local/headscope
menu="$home/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/headscope.lnk"
listed='HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\headscope'

# running NAMES: the programs of this Windows whose files or folders are called so.
running() {
  local process
  for process in $(grep -lzF "WINEPREFIX=$WINEPREFIX" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
    tr '\0' ' ' 2>/dev/null <"/proc/$process/cmdline" | grep -aiE "\\\\($1)[^ ]*\.exe" || true
  done
}

# settle [NAMES]: waits until they have ended; uninstallers go on in a copy of themselves.
settle() {
  local turn names=${1:-headscope|uninstall|~nsu}
  for turn in {1..150}; do
    [[ -n $(running "$names") ]] || return 0
    sleep 0.2
  done
  fail "still running: $(running "$names")"
}

# state NAME: every file outside temporary folders, where an uninstaller leaves the copy of itself that ran and a note in the
# registry that it may go at the next start; and every key and value of the registry but those that Wine keeps of its consoles,
# screens and fonts.
state() {
  settle
  (cd "$WINEPREFIX/drive_c" && find . \( -path ./windows/temp -o -path './users/*/Temp' \) -prune -o -printf '%P %y\n' | sort) >"$out/$1.files"
  local hive
  for hive in HKCU HKLM; do
    "$wine" reg export $hive "Z:${out//\//\\}\\$hive.reg" /y >/dev/null
    iconv -f UTF-16 -t UTF-8 "$out/$hive.reg" | tr -d '\r' |
      awk '/^\[/ { wines = /\\Software\\Wine(\\|\])/ || /\\(Volatile Environment|DynData|HARDWARE|Control\\Video)(\\|\])/ ||
                      /^\[HKEY_CURRENT_USER\\Console(\\|\])/ }
           /^"PendingFileRenameOperations"/ { note = 1 }
           note { note = /\\$/; next }
           !wines && NF'
  done >"$out/$1.registry"
}

# same BEFORE AFTER WHEN
same() {
  local kind
  for kind in files registry; do
    diff "$out/$1.$kind" "$out/$2.$kind" >"$out/$2.$kind.diff" || fail "$3, $kind differ: $(head -40 "$out/$2.$kind.diff")"
  done
}

# use_window COMMAND...: starts the program so, finds its window and closes it as a person would.
use_window() {
  "$@" >"$out/window.txt" 2>&1 &
  local process=$!
  find_window $process || fail "$*: $(cat "$out/window.txt")"
  sleep 3
  close_window $process || fail "$*: it ended with status $?: $(cat "$out/window.txt")"
  settle
}

# What any program leaves that opens a window: Wine's own notes about fonts and screens.
use_window "$wine" "$root/build/windows/app/headscope.exe" --prompt "Once upon"
rm -r "$settings" "$kept"
state before

"$wine" "$installer" /S || fail "the installer's status is $?"
settle
program=$installed/bin/headscope.exe
for file in "$program" "$installed/LICENSE" "$installed/uninstall.exe" "$menu" "$installed/share/headscope/models/tales/config.json"; do
  [[ -f $file ]] || fail "$file was not installed"
done
"$wine" reg query "$listed" /v DisplayVersion | grep -q "$("$wine" "$program" --version | tr -d '\r' | cut -d' ' -f2)" ||
  fail "the list of programs has another version"
(cd / && "$wine" "$program" predict --prompt "Once upon a" --count 1 | grep -q .) || fail "the installed program does not run"

# By its name's ending. Wine 8 looks only where programs for all users are registered, so what the installer wrote for this one is
# copied there for a moment.
for key in .headscope headscope.session; do
  "$wine" reg copy "HKCU\\Software\\Classes\\$key" "HKLM\\Software\\Classes\\$key" /s /f >/dev/null || fail "$key is not registered"
done
use_window "$wine" start /wait "Z:${session//\//\\}"
for key in .headscope headscope.session; do "$wine" reg delete "HKLM\\Software\\Classes\\$key" /f >/dev/null; done
grep -q 'The old queen' "$kept"/window-*.headscope || fail "the session's second prompt is not in the window that opened"

# Over an older version, one of whose files is no longer there, while somebody has put a file of their own beside them.
echo mine >"$installed/mine.txt"
"$wine" "$installer" /S || fail "installing again: status $?"
settle
[[ -f $program && -f $installed/mine.txt ]] || fail "installing again lost a file"

# Not while it runs.
"$wine" "$program" --prompt "Once upon" >/dev/null 2>&1 &
process=$!
find_window $process || fail "no window"
"$wine" "$installed/uninstall.exe" /S
settle 'uninstall|~nsu'
[[ -f $program && -f $installed/share/headscope/models/tales/config.json && -f $menu ]] ||
  fail "some of it was removed while it ran"
close_window $process || fail "the window ended with status $?"

rm "$installed/mine.txt"
"$wine" "$installed/uninstall.exe" /S
settle
[[ ! -e $installed && ! -e $menu ]] || fail "the uninstaller left $(find "$installed" "$menu" | head)"
[[ -f $settings/settings.json && -f $kept/window-1.headscope ]] || fail "the uninstaller removed settings unasked"
mkdir -p "$settings/tours" && echo "# mine" >"$settings/tours/mine.md"

"$wine" "$installer" /S
settle
"$wine" "$installed/uninstall.exe" /S /SETTINGS
settle
[[ -f $settings/tours/mine.md ]] || fail "somebody's own tour was removed"
rm -r "$settings"
state after
same before after "after everything was removed"
echo "the installer: installed, opened a session, installed again, removed; $(wc -l <"$out/after.files") files and" \
  "$(wc -l <"$out/after.registry") lines of the registry are as before"
