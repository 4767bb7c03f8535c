"""A run's folder belongs to one process, and no byte of a checkpoint can be wrong unseen."""

import shutil
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.runs.checkpoint import CheckpointStore
from qes_jax.runs.folder import RunFolder, held
from tests.runs.toy import toy_run


def test_two_processes_do_not_train_in_one_folder(tmp_path: Path) -> None:
    with held(RunFolder(tmp_path)), pytest.raises(ValueError, match="another process trains"):
        toy_run(tmp_path)  # a second open of the file is as good as another process
    with held(RunFolder(tmp_path)):
        pass  # and it was let go


def whole() -> dict[str, Any]:
    return {"w": jnp.arange(5.0), "n": jnp.int32(2)}


def read(store: CheckpointStore) -> tuple[list[Any], dict, list[str]]:
    found = store.restore_latest(whole())
    assert found is not None
    return [np.asarray(x).tolist() for x in (found.state["w"], found.state["n"])], found.meta, found.skipped


def test_a_wrong_byte_is_harmless_or_the_one_before_is_taken(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    store.save(1, {"w": jnp.zeros(5), "n": jnp.int32(1)}, {"iteration": 1})
    store.save(2, whole(), {"iteration": 2, "wall_s": 12.5})
    before, after = (
        ([[0.0] * 5, 1], {"iteration": 1}),
        ([[0.0, 1.0, 2.0, 3.0, 4.0], 2], {"iteration": 2, "wall_s": 12.5}),
    )
    assert read(store)[:2] == after
    rng, passed_over = np.random.default_rng(0), 0
    files = sorted(p for p in (tmp_path / "00000002").rglob("*") if p.is_file())
    for path in files:
        data = path.read_bytes()
        meta = path.parent.name == "meta"
        for at in rng.permutation(len(data))[: 24 if meta else 6]:
            path.write_bytes(data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1 :])
            values, said, skipped = read(store)
            assert (values, said) == (before if skipped else after), (path.name, at)
            assert not skipped or "00000002" in skipped[0]
            passed_over += bool(skipped)
        path.write_bytes(data)
    assert passed_over > 10
    shutil.rmtree(tmp_path / "00000002" / "meta")
    assert read(store)[2]
