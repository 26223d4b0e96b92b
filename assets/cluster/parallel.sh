#!/usr/bin/env bash
# Head metrics over many prompts, in shards that GNU parallel runs side by side on this machine:
#
#   assets/cluster/parallel.sh PROMPTS.jsonl SHARDS FOLDER [OPTIONS OF headscope metrics]
#
# Writes FOLDER/part-0-of-SHARDS.json and so on, each when it is whole, and FOLDER/metrics.json of all of them.
# Started again it makes only what is missing. HEADSCOPE names the program.
set -euo pipefail
if (($# < 3)); then
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
export prompts=$1 shards=$2 folder=$3 headscope=${HEADSCOPE:-headscope}
shift 3
mkdir -p "$folder"
# Parts of something else would be taken for these.
asked=$(printf '%q ' "$(cksum <"$prompts")" "$shards" "$@"
  for word; do
    if [[ -f $word ]]; then cksum "$word"; elif [[ -d $word ]]; then ls -lL --time-style=full-iso "$word"; fi
  done)
if [[ -e $folder/asked && $(<"$folder/asked") != "$asked" ]]; then
  echo "parallel.sh: $folder holds parts of other prompts, shards or options; name another folder" >&2
  exit 1
fi
echo "$asked" >"$folder/asked"
processors=$(nproc)
export threads=$(((processors + shards - 1) / shards))

shard() {
  local part=$folder/part-$1-of-$shards.json
  [[ -e $part ]] && return
  "$headscope" metrics --json --prompts "$prompts" --shard "$1/$shards" --threads "$threads" "${@:2}" >"$part.tmp.$$" &&
    mv "$part.tmp.$$" "$part"
}
export -f shard

seq 0 $((shards - 1)) | parallel --quote --jobs "$processors" --halt soon,fail=1 bash -c 'shard "$@"' shard {} "$@"
parts=()
for ((i = 0; i < shards; ++i)); do parts+=("$folder/part-$i-of-$shards.json"); done
"$headscope" metrics --json --merge "${parts[@]}" >"$folder/metrics.json.tmp.$$"
mv "$folder/metrics.json.tmp.$$" "$folder/metrics.json"
