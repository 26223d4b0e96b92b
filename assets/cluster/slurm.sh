#!/usr/bin/env bash
#SBATCH --job-name=headscope
#SBATCH --cpus-per-task=2
# Means of a view over many prompts, a shard in each task of a Slurm array, and their sum when all are done:
#
#   job=$(sbatch --parsable --array=0-7 assets/cluster/slurm.sh 8 FOLDER sweep --prompts PROMPTS.jsonl [OPTIONS])
#   sbatch --dependency=afterok:$job --wrap='headscope sweep --merge FOLDER/part-*-of-8.json --out FOLDER/means.json'
#
# Tasks that failed are submitted again alone, as in --array=3,5. HEADSCOPE names the program.
set -euo pipefail
shards=$1 folder=$2
shift 2
mkdir -p "$folder"
"${HEADSCOPE:-headscope}" "$@" --mean --shard "$SLURM_ARRAY_TASK_ID/$shards" --threads "${SLURM_CPUS_PER_TASK:-1}" \
  --out "$folder/part-$SLURM_ARRAY_TASK_ID-of-$shards.json"
