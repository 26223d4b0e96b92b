#!/usr/bin/env bash
# Means of a view over many prompts, in shards that GNU parallel runs side by side on this machine:
#
#   assets/cluster/parallel.sh SHARDS FOLDER VIEW --prompts PROMPTS.jsonl [OPTIONS]
#
# Writes FOLDER/part-0-of-SHARDS.json and so on, and FOLDER/means.json. Started again it makes only what is missing,
# so other prompts or options need another folder. HEADSCOPE names the program.
set -euo pipefail
shards=$1 folder=$2 view=$3 headscope=${HEADSCOPE:-headscope} processors=$(nproc)
shift 3
mkdir -p "$folder"
part="$folder/part-{}-of-$shards.json"
for ((i = 0; i < shards; ++i)); do
  [[ -e ${part/\{\}/$i} ]] || echo "$i"
done | parallel --quote --jobs "$processors" --halt soon,fail=1 "$headscope" "$view" "$@" --mean --shard "{}/$shards" \
  --threads $(((processors + shards - 1) / shards)) --out "$part"
"$headscope" "$view" --merge "$folder"/part-*-of-"$shards".json --out "$folder/means.json"
