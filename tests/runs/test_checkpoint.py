"""Checkpoints come back to the bit, or not at all."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.runs.checkpoint import CheckpointError, CheckpointStore, load


def tree() -> dict[str, Any]:
    nasty = np.array([0.1, -0.0, np.nan, np.inf, 1e-45], np.float32)  # 1e-45 is subnormal
    return {
        "f32": jnp.asarray(nasty),
        "raw_key": jax.random.PRNGKey(7),
        "typed_key": jax.random.split(jax.random.key(7), 3),
        "nested": (jnp.int32(4), [jnp.ones(3, jnp.bfloat16), jnp.array([True, False])]),
        "empty": jnp.zeros((0, 3)),
        "numpy": np.arange(3, dtype=np.float64),
        "number": 3,
    }


def bits(x: Any) -> tuple[str, bytes]:
    if hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
        return str(x.dtype), np.asarray(jax.random.key_data(x)).tobytes()
    return str(np.asarray(x).dtype), np.asarray(x).tobytes()


def saved(folder: Path, *numbers: int, **more: Any) -> CheckpointStore:
    store = CheckpointStore(folder, **more)
    for n in numbers:
        store.save(n, tree() | {"number": n}, {"iteration": n})
    return store


def test_round_trip_is_exact(tmp_path: Path) -> None:
    store = saved(tmp_path, 3)
    found = store.restore_latest(tree())
    assert found is not None
    assert (found.meta, found.skipped) == ({"iteration": 3}, [])
    assert jax.tree.structure(found.state) == jax.tree.structure(tree())
    assert [bits(x) for x in jax.tree.leaves(found.state)] == [bits(x) for x in jax.tree.leaves(tree())]
    np.testing.assert_array_equal(
        jax.random.uniform(found.state["typed_key"][1]), jax.random.uniform(tree()["typed_key"][1])
    )


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_abstract_arrays_are_enough(tmp_path: Path, impl: str) -> None:
    state = {"x": jnp.arange(3.0), "key": jax.random.key(7, impl=impl)}
    store = CheckpointStore(tmp_path)
    store.save(1, state, {})
    found = store.restore_latest(jax.eval_shape(lambda: state))
    assert found is not None
    assert [bits(x) for x in jax.tree.leaves(found.state)] == [bits(x) for x in jax.tree.leaves(state)]


def test_no_checkpoint_is_none(tmp_path: Path) -> None:
    assert CheckpointStore(tmp_path).restore_latest(tree()) is None


def truncate(checkpoint: Path) -> None:
    for file in checkpoint.glob("state/**/*"):
        if file.is_file():
            os.truncate(file, file.stat().st_size // 2)


def flip_a_bit(checkpoint: Path) -> None:
    largest = max((p for p in checkpoint.glob("state/**/d/*") if p.is_file()), key=lambda p: p.stat().st_size)
    data = bytearray(largest.read_bytes())
    data[len(data) // 2] ^= 1
    largest.write_bytes(data)


def lose_the_state(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint / "state")


def lose_the_meta(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint / "meta")


def take_the_state_of_another(checkpoint: Path) -> None:
    lose_the_state(checkpoint)
    shutil.copytree(checkpoint.with_name("00000001") / "state", checkpoint / "state")


def empty_it(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint)
    checkpoint.mkdir()


DAMAGES = [truncate, flip_a_bit, lose_the_state, lose_the_meta, take_the_state_of_another, empty_it]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_newest_checkpoint_is_passed_over(tmp_path: Path, damage: Any) -> None:
    store = saved(tmp_path, 1, 2)
    damage(tmp_path / "00000002")
    found = store.restore_latest(tree())
    assert found is not None
    assert found.meta == {"iteration": 1}
    (reason,) = found.skipped
    assert "00000002" in reason


def test_all_damaged_is_an_error_and_not_a_fresh_start(tmp_path: Path) -> None:
    store = saved(tmp_path, 1, 2)
    for n in (1, 2):
        truncate(tmp_path / f"{n:08d}")
    with pytest.raises(CheckpointError, match="00000001"):
        store.restore_latest(tree())


def test_half_written_leftovers_are_ignored_and_cleared(tmp_path: Path) -> None:
    store = saved(tmp_path, 1)
    leftover = tmp_path / "00000002.orbax-checkpoint-tmp-17"
    leftover.mkdir()
    assert store.numbers() == [1]
    saved(tmp_path, 3)
    assert not leftover.exists()


def test_keeps_the_last_and_the_best(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path, keep_last=2, best="score")
    for n, score in enumerate([1.0, 9.0, float("nan"), 2.0, 3.0], start=1):
        store.save(n, {"x": jnp.zeros(1)}, {"score": score})
    assert store.numbers() == [2, 4, 5]
    assert store.best_number() == 2


def test_saving_a_number_again_replaces_it(tmp_path: Path) -> None:
    store = saved(tmp_path, 1)
    store.save(1, {"x": jnp.ones(2)}, {"second": True})
    assert load(tmp_path / "00000001")[1] == {"second": True}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"f32": jnp.zeros(6)}, r"f32 is float32\[5\], this configuration has float32\[6\]"),
        ({"raw_key": jnp.zeros(2, jnp.int32)}, "raw_key is uint32"),
        ({"extra": jnp.zeros(1)}, "extra"),
    ],
)
def test_another_configuration_is_an_error_that_names_the_leaf(tmp_path: Path, change: Any, named: str) -> None:
    store = saved(tmp_path, 1)
    with pytest.raises(ValueError, match=named):
        store.restore_latest(tree() | change)


def test_leaves_are_found_by_name_without_a_tree(tmp_path: Path) -> None:
    saved(tmp_path, 1)
    leaves, meta = load(tmp_path / "00000001")
    assert meta == {"iteration": 1}
    assert leaves["nested/0"] == 4
    with pytest.raises(CheckpointError, match="00000009"):
        load(tmp_path / "00000009")


SPREAD = """
import sys, jax, jax.numpy as jnp
from pathlib import Path
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from qes_jax.runs.checkpoint import CheckpointStore
mesh = Mesh(jax.devices(), ("env",))
state = {n: jax.device_put(jnp.arange(8.0), NamedSharding(mesh, p)) for n, p in (("split", P("env")), ("copied", P()))}
store = CheckpointStore(Path(sys.argv[1]))
store.save(1, state, {})
found = store.restore_latest(state).state
assert len(jax.devices()) == 2
for name, x in state.items():
    assert found[name].sharding == x.sharding, found[name].sharding
    assert found[name].tolist() == x.tolist()
"""


def test_arrays_spread_over_two_devices_come_back_where_they_were(tmp_path: Path) -> None:
    environ = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    subprocess.run([sys.executable, "-c", SPREAD, str(tmp_path)], env=environ, check=True)
    leaves, _ = load(tmp_path / "00000001")  # and can be read where there is one device only
    assert {name: x.tolist() for name, x in leaves.items()} == {"split": [*range(8)], "copied": [*range(8)]}
