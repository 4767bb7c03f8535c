#!/usr/bin/env bash
# A machine's part of a sweep, for a job array or by hand. From the repository's folder:
#   sbatch --array=0-17 --gres=gpu:1 experiments/sweeps/array.sh experiments/sweeps/ablations.yaml [MORE ...]
#   sbatch --array=0-99 --gres=gpu:1 experiments/sweeps/array.sh ENTITY/PROJECT/SWEEP      (agents, with an account)
#   bash experiments/sweeps/array.sh experiments/sweeps/ablations.yaml INDEX OF [MORE ...]
# MORE are settings for every run. A job that was ended is started with the same line again, and goes on.
#SBATCH --job-name=qes_jax
#SBATCH --signal=B:TERM@120
set -euo pipefail
usage() { sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }

[ $# -ge 1 ] || usage
sweep=$1
shift
cd "${SLURM_SUBMIT_DIR:-.}"
if [[ $sweep != *.yaml ]]; then
    command=("${WANDB:-wandb}" agent --forward-signals "$sweep")
else
    if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
        index=$((SLURM_ARRAY_TASK_ID - ${SLURM_ARRAY_TASK_MIN:-0}))
        of=${SLURM_ARRAY_TASK_COUNT:?}
    else
        [[ ${1:-} =~ ^[0-9]+$ && ${2:-} =~ ^[0-9]+$ ]] || usage
        index=$1 of=$2
        shift 2
    fi
    command=("${PYTHON:-python}" experiments/sweep.py "$sweep" --index "$index" --of "$of" ${1+-- "$@"})
fi
# Slurm tells this script alone that time is up: it passes that on, and waits until the run has saved.
"${command[@]}" &
trap 'kill -TERM $! 2>/dev/null || true' TERM INT
wait $! || { code=$?; wait $! 2>/dev/null || true; exit "$code"; }
