"""`experiments/evaluate.py` on shipped weights, from the command line to the files it writes."""

import json
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from qes_jax.evaluate.tables import OVERALL
from qes_jax.evaluate.weights import save_policy
from qes_jax.motion.clip import save_clip
from qes_jax.ppo.inference import PolicyParams
from tests.evaluate.standing import params_for, standing, task_for

SCRIPT = Path(__file__).resolve().parents[2] / "experiments" / "evaluate.py"


def run(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(SCRIPT), *words], capture_output=True, text=True, check=False)


def still_policy(n_obs: int) -> PolicyParams:
    """A network of zeros: the mean pose for ever."""
    layers = {
        f"Dense_{i}": {"kernel": jnp.zeros((a, b)), "bias": jnp.zeros(b)}
        for i, (a, b) in enumerate([(n_obs, 8), (8, 32)])
    }
    return PolicyParams({"params": layers}, jnp.zeros(32), jnp.zeros(n_obs), jnp.ones(n_obs))


@pytest.mark.slow
def test_shipped_weights_are_evaluated_on_a_clip_file(tmp_path: Path) -> None:
    task, params = task_for(), params_for(standing())
    n_obs = jax.eval_shape(task.reset, params, jax.random.PRNGKey(0))[1].policy.shape[0]
    save_clip(tmp_path / "standing.npz", standing())
    save_policy(tmp_path / "still" / "policy.npz", still_policy(n_obs), params.mean_pose)
    config = {
        "clips": [str(tmp_path / "standing.npz")],
        "character": {"actuation": "pd"},
        "ppo": {"actor_hidden": [8]},
    }
    (tmp_path / "still" / "config.json").write_text(json.dumps(config))
    words = f"{tmp_path / 'still'} --root {tmp_path} --starts 3 --seconds 1 --json {tmp_path / 'new' / 'r.json'}"
    done = run(*words.split())
    assert done.returncode == 0, done.stderr
    out = tmp_path / "still-evaluation"
    assert {p.name for p in out.iterdir()} == {
        "results.json", "table.md", "error_over_time.png", "contacts-1.png", "playback-1.html"
    }  # fmt: skip
    data = json.loads((tmp_path / "new" / "r.json").read_text())
    assert data == json.loads((out / "results.json").read_text())
    assert (data["n_starts"], data["episodes"], data["threshold_m"]) == (3, 3, 0.8)
    assert set(data["thresholds"]) == {"0.8", "0.5"}
    assert set(data["thresholds"]["0.5"]) == {OVERALL, "standing"}
    assert 0 < data["thresholds"]["0.5"]["standing"]["error_cm"] < 10
    assert data["success_30s"] is None  # one second cannot tell
    assert "| standing | 0.5 | 3 |" in done.stdout


def test_a_run_that_is_not_there_is_an_error_that_lists_what_is(tmp_path: Path) -> None:
    done = run("nowhere", "--root", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.startswith("error: no run 'nowhere'")
    assert "shipped weights are" in done.stderr
    assert "Traceback" not in done.stderr
