#!/usr/bin/env bash
# Runs the real window in a private X server and uses it with keyboard and mouse events.
#   xvfb_test.sh PROGRAM typing|export-by-mouse
set -euo pipefail
program=$(realpath "$1") case=$2
work=$(mktemp -d)
export XDG_CONFIG_HOME=$work/config
server='' window_pid=''
clean_up() {
  [[ -z $window_pid ]] || kill "$window_pid" 2>/dev/null || true
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
fail() {
  echo "FAILED: $*" >&2
  [[ ! -f $work/err ]] || cat "$work/err" >&2
  exit 1
}

# Until a command succeeds, for at most ten seconds; `what` is said if it does not.
wait_for() {
  local what=$1
  shift
  for _ in {1..200}; do
    ! "$@" || return 0
    [[ -z $window_pid ]] || kill -0 "$window_pid" 2>/dev/null || fail "the program ended"
    sleep 0.05
  done
  fail "$what"
}

start_server() {
  Xvfb -displayfd 3 -screen 0 1700x1100x24 -noreset -nolisten tcp 3>"$work/display" 2>/dev/null &
  server=$!
  wait_for "Xvfb did not start" test -s "$work/display"
  export DISPLAY=:$(<"$work/display")
}

# With the arguments given.
start_window() {
  "$program" "$@" 2>"$work/err" &
  window_pid=$!
  find_window
}

has_window() {
  window=$(xdotool search --onlyvisible --name headscope 2>/dev/null | head -n 1)
  [[ -n $window ]]
}

find_window() {
  wait_for "no window came" has_window
  xdotool windowfocus --sync "$window"
}

close_window() {
  xdotool key ctrl+q
  local status=0
  wait "$window_pid" || status=$?
  window_pid=''
  ((status == 0)) || fail "the window ended with status $status"
}

# The left button at a place of the window.
click_at() {
  xdotool mousemove --window "$window" "$1" "$2" click 1
}

picture_in() { compgen -G "$1" >/dev/null && [[ $(head -c 4 $1 | tail -c 3) == PNG ]]; }

settings=$XDG_CONFIG_HOME/headscope/settings.json

case $case in
typing)
  start_server
  start_window --prompt "Once upon"
  xdotool type --delay 40 " a time"
  close_window
  grep -q 'Once upon a time' "$settings" || fail "the typed text was not kept"
  ;;
export-by-mouse)
  cd "$work"  # where pictures go at first
  start_server
  start_window --prompt "Once upon"
  # Export, then Export in the dialog. A busy machine may draw either only after it was clicked.
  exported() { click_at 1510 24 && sleep 0.2 && click_at 800 724 && picture_in "$work/*.png"; }
  wait_for "no picture was written" exported
  close_window
  ;;
*) fail "no such case: $case" ;;
esac
echo "passed: $case"
