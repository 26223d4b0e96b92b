#!/usr/bin/env bash
# What takes too long for every change: the suite under the sanitizers, which lines it reaches, mutants and fuzzing. The exit
# status says whether all that was asked for went well.
#
#   tests/habits.sh                        all of it
#   tests/habits.sh tsan coverage          some of it: asan-ubsan, tsan, coverage, mutants, fuzz
#   HEADSCOPE_TESTS='-R Tokenizer' tests/habits.sh tsan          ctest's own arguments
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/cmake/setup.sh"
read -ra chosen <<<"${HEADSCOPE_TESTS:-}"

# Of the lines of each folder, those that some test ran; then the files that lack most. Fails below the bars.
coverage() {
  rm -f "$root/build/coverage/lines.json"  # of a run before
  install_packages habits
  HEADSCOPE_PRESET=coverage "$root/test.sh" "${chosen[@]}" || echo "some tests failed: the figures are of what ran" >&2
  (cd "$root" && gcovr --object-directory build/coverage --filter system/ --filter model/ --filter viz/ --filter app/ --gcov-ignore-parse-errors \
    --exclude-unreachable-branches --json-summary build/coverage/lines.json) || return 1
  python3 - "$root/build/coverage/lines.json" <<'PYTHON'
import collections, json, sys
files = json.load(open(sys.argv[1]))["files"]
bars = {"model": 95, "viz": 95, "app": 90}
lines = collections.defaultdict(lambda: [0, 0])
for file in files:
    for folder in {file["filename"].split("/")[0], "/".join(file["filename"].split("/")[:2]) if file["filename"].startswith("app/") else ""} - {""}:
        lines[folder][0] += file["line_covered"]
        lines[folder][1] += file["line_total"]
for folder, (covered, total) in sorted(lines.items()):
    print(f"{folder:20} {covered:6} of {total:6} lines  {100 * covered / max(total, 1):5.1f} %")
print("what lacks most:")
for file in sorted(files, key=lambda file: file["line_covered"] - file["line_total"])[:20]:
    print(f"{file['line_total'] - file['line_covered']:6} lines  {file['line_percent']:5.1f} %  {file['filename']}")
sys.exit(any(lines[folder][1] == 0 or 100 * lines[folder][0] < bar * lines[folder][1] for folder, bar in bars.items()))
PYTHON
}

habits=("$@")
((${#habits[@]} > 0)) || habits=(asan-ubsan tsan coverage mutants fuzz)
status=0
for habit in "${habits[@]}"; do
  echo "== $habit"
  case $habit in
    asan-ubsan | tsan) HEADSCOPE_PRESET=$habit "$root/test.sh" "${chosen[@]}" || status=1 ;;
    coverage) coverage || status=1 ;;
    mutants) "$root/tests/mutants/run.py" || status=1 ;;
    fuzz) "$root/tests/fuzz/run.sh" || status=1 ;;
    *) echo "there is no habit $habit" >&2; exit 2 ;;
  esac
done
exit $status
