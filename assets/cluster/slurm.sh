#!/usr/bin/env bash
#SBATCH --job-name=headscope
#SBATCH --cpus-per-task=2
# Head metrics over many prompts, a shard a task of a Slurm array, and their sum when all are done:
#
#   job=$(sbatch --parsable --array=0-7 assets/cluster/slurm.sh PROMPTS.jsonl 8 FOLDER [OPTIONS OF headscope metrics])
#   sbatch --dependency=afterok:$job --wrap='headscope metrics --json --merge FOLDER/part-*-of-8.json >FOLDER/metrics.json'
#
# Tasks that failed are submitted again alone, as in --array=3,5; parts that are there are kept, so other prompts
# or options need another folder. HEADSCOPE names the program.
set -euo pipefail
prompts=$1 shards=$2 folder=$3
shift 3
mkdir -p "$folder"
part=$folder/part-$SLURM_ARRAY_TASK_ID-of-$shards.json
[[ -e $part ]] && exit
"${HEADSCOPE:-headscope}" metrics --json --prompts "$prompts" --shard "$SLURM_ARRAY_TASK_ID/$shards" \
  --threads "${SLURM_CPUS_PER_TASK:-1}" "$@" >"$part.tmp.$SLURM_JOB_ID"
mv "$part.tmp.$SLURM_JOB_ID" "$part"
