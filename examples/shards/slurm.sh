#!/usr/bin/env bash
# A match in 50 shards as a Slurm array: `sbatch examples/shards/slurm.sh`. A job that Slurm starts again goes on with its record.
# When all have ended: `plyd arena --merge part-*.jsonl`.
#SBATCH --array=0-49
#SBATCH --cpus-per-task=2
#SBATCH --requeue
set -euo pipefail
plyd arena isolation --rules preset=7x7 --player default,time=50ms --player default,eval=race,time=50ms --games 100000 \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --record "part-$SLURM_ARRAY_TASK_ID.jsonl" > "part-$SLURM_ARRAY_TASK_ID.txt"
