# Sourced by tests/windows.sh and its parts, which set `root` to the source tree: Wine, with a Windows of its own in the build
# tree, and an X server.

wine=/usr/lib/wine/wine64
wineserver=/usr/lib/wine/wineserver
export LC_ALL=C.UTF-8 WINEDEBUG=${WINEDEBUG:--all} WINEDLLOVERRIDES="mscoree=;mshtml=;winemenubuilder.exe="

# start_windows FOLDER: that Windows, made if it is not there, for what runs from here on. It has this machine's fonts, so that both
# systems' programs draw with the same ones. A program that waits keeps its services until stop_windows: each other program starts at
# once, and none of them is the one that starts them, whose output they would hold open.
start_windows() {
  export WINEPREFIX=$1
  [[ -x $wine ]] || { echo "Wine is missing: install the packages of [windows] in cmake/debian-packages.txt" >&2; exit 1; }
  if [[ ! -d $WINEPREFIX/drive_c/windows ]]; then
    "$wine" wineboot --init >/dev/null 2>&1
    "$wineserver" -w  # until it has written all of it
  fi
  local fonts
  fonts=$(profile)/AppData/Local/Microsoft/Windows
  mkdir -p "$fonts"
  ln -sfn /usr/share/fonts "$fonts/Fonts"
  [[ -p $WINEPREFIX/never ]] || mkfifo "$WINEPREFIX/never"
  "$wine" cmd /c pause <>"$WINEPREFIX/never" >/dev/null 2>&1 &
  "$wine" cmd /c exit >/dev/null 2>&1
}

# A desktop without a display, for tests that ask for a clipboard: else the first of them starts it, which holds its output open.
start_desktop() { "$wine" explorer.exe /desktop >/dev/null 2>&1 & }

stop_windows() {
  "$wineserver" -k || true  # of this prefix alone
  "$wineserver" -w
}

# The user's folder.
profile() { find "$WINEPREFIX/drive_c/users" -mindepth 1 -maxdepth 1 -type d ! -name Public | head -1; }

# start_display FOLDER WIDTHxHEIGHT: an X server, until stop_display or the script's end.
start_display() {
  rm -f "$1/display"  # of a former one
  Xvfb -displayfd 5 -screen 0 "$2x24" -noreset -nolisten tcp 5>"$1/display" >/dev/null 2>&1 &
  display_server=$!
  trap stop_display EXIT
  local seconds
  for seconds in {1..40}; do [[ -s $1/display ]] && break; sleep 0.5; done
  [[ -s $1/display ]] || { echo "Xvfb did not start" >&2; exit 1; }
  export DISPLAY=:$(<"$1/display")
}

stop_display() {
  [[ -z ${display_server-} ]] || kill "$display_server" 2>/dev/null || true
  display_server=
  unset DISPLAY
}

# find_window PROCESS: its identifier in `window`, once it shows.
find_window() {
  local turn
  for turn in {1..300}; do
    window=$(xdotool search --onlyvisible --name headscope 2>/dev/null | head -n 1 || true)
    [[ -z $window ]] || return 0
    kill -0 "$1" 2>/dev/null || { echo "the program ended before its window came" >&2; return 1; }
    sleep 0.2
  done
  echo "no window came within a minute" >&2
  return 1
}

# close_window PROCESS: with the keyboard, as a person would; returns its status.
close_window() {
  local turn
  for turn in {1..60}; do
    kill -0 "$1" 2>/dev/null || break
    # The window that was found first may be one that GLFW made only to ask what there is.
    window=$(xdotool search --onlyvisible --name headscope 2>/dev/null | tail -n 1 || true)
    [[ -z $window ]] || xdotool windowfocus "$window" key ctrl+q 2>/dev/null || true
    sleep 1
  done
  wait "$1"
}
