#!/usr/bin/env bash
#SBATCH --job-name=headscope
#SBATCH --cpus-per-task=2
# Head metrics over many prompts, a shard a task of a Slurm array, and their sum when all are done:
#
#   job=$(sbatch --parsable --array=0-7 assets/cluster/slurm.sh PROMPTS.jsonl FOLDER [OPTIONS OF headscope metrics])
#   sbatch --dependency=afterok:$job --wrap='headscope metrics --json --merge FOLDER/part-*.json >FOLDER/metrics.json'
#
# The array begins at 0. HEADSCOPE names the program.
set -euo pipefail
prompts=$1 folder=$2
shift 2
mkdir -p "$folder"
part=$folder/part-$SLURM_ARRAY_TASK_ID.json
[[ -e $part ]] && exit
"${HEADSCOPE:-headscope}" metrics --json --prompts "$prompts" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
  --threads "${SLURM_CPUS_PER_TASK:-1}" "$@" >"$part.tmp.$SLURM_JOB_ID"
mv "$part.tmp.$SLURM_JOB_ID" "$part"
