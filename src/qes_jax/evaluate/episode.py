"""One recorded episode with all that is needed to show it, and its file: simulated body, reference, user and room."""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jax
import mujoco
import numpy as np

from qes_jax.env.state import EnvParams
from qes_jax.env.task import Task
from qes_jax.evaluate.recording import Recording
from qes_jax.files import BROKEN, entry, save_npz
from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import PARKED, Piece, make_piece
from qes_jax.model.world import World, build_world

ARRAYS = ("qpos", "placement", "reference_qpos", "user_pos", "user_quat", "sensor_pos", "force", "label")


@dataclass(frozen=True)
class Episode:
    """T frames in the world of `character` and `pieces`; L links, O objects. Arrays are NumPy."""

    name: str
    fps: float  # [Hz]
    character: CharacterConfig
    pieces: tuple[Piece, ...]
    body_known: bool  # False: the reference's body is a stand-in, only its sensors were recorded
    qpos: np.ndarray  # (T, nq) as simulated
    placement: np.ndarray  # (O-1, 7) of the pieces
    reference_qpos: np.ndarray  # (T, nq)
    user_pos: np.ndarray  # (T, 3, 3) headset, left, right controller [m]
    user_quat: np.ndarray  # (T, 3, 4)
    sensor_pos: np.ndarray  # (T, 3, 3) the simulated body's [m]
    force: np.ndarray  # (T, L, O) net contact force [N]
    label: np.ndarray  # (T, L, O) contact label of the reference

    def world(self) -> World:
        """The world it was simulated in, compiled anew."""
        return build_world(self.character, self.pieces)

    def error(self) -> np.ndarray:
        """(T,) mean distance of headset and controllers from the user's [m]."""
        return np.linalg.norm(self.sensor_pos - self.user_pos, axis=-1).mean(axis=-1)


def episodes(task: Task, params: EnvParams, recording: Recording, names: Sequence[str]) -> list[Episode]:
    """One for each episode of a recording; `names` are those of the reference's clips."""
    world, reference = task.engine.world, jax.device_get(params.reference)
    found = []
    for b in range(recording.qpos.shape[1]):
        frame = recording.frame[:, b]
        clip = reference.clip_of_frame[frame[0]]
        name = f"{names[clip]} from {(frame[0] - reference.start[clip]) * task.config.ctrl_dt:.1f} s"
        found.append(
            Episode(
                name, 1.0 / task.config.ctrl_dt, world.character, world.pieces, bool(reference.body_known[clip]),
                recording.qpos[:, b], recording.placement[b], reference.qpos[frame], reference.sensor_pos[frame],
                reference.sensor_quat[frame], recording.sensor_pos[:, b], recording.force[:, b],
                reference.contact[frame],
            )
        )  # fmt: skip
    return found


def body_poses(world: World, qpos: np.ndarray, placement: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions (T, K, 3) and quaternions (T, K, 4) of all bodies but the world at qpos (T, nq)."""
    m, data = world.plain, mujoco.MjData(world.plain)
    data.mocap_pos[:], data.mocap_quat[:] = placement[:, :3], placement[:, 3:]
    pos, quat = np.empty((len(qpos), m.nbody - 1, 3)), np.empty((len(qpos), m.nbody - 1, 4))
    for t, q in enumerate(qpos):
        data.qpos[:] = q
        mujoco.mj_kinematics(m, data)
        pos[t], quat[t] = data.xpos[1:], data.xquat[1:]
    return pos, quat


def parked(placement: np.ndarray) -> np.ndarray:
    """(O-1,) bool: pieces (O-1, 7) that this episode does not use."""
    return placement[:, 2] < PARKED[2] / 2


def save_episode(path: Path, episode: Episode) -> None:
    """Write an episode as npz: the arrays and one JSON text. Written aside, then renamed."""
    meta = {
        "name": episode.name, "fps": episode.fps, "body_known": episode.body_known,
        "character": dataclasses.asdict(episode.character), "pieces": [dataclasses.asdict(p) for p in episode.pieces],
    }  # fmt: skip
    save_npz(path, meta=np.array(json.dumps(meta)), **{name: getattr(episode, name) for name in ARRAYS})


def load_episode(path: Path) -> Episode:
    """Read an episode back. Raises ValueError that names file and field."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: entry(file, name) for name in ARRAYS}
            meta = json.loads(str(file["meta"]))
        meta["character"] = CharacterConfig(**meta["character"])
        meta["pieces"] = tuple(make_piece(p) for p in meta["pieces"])
        odd = [name for name, x in arrays.items() if x.dtype.kind not in "fiub" or not np.isfinite(x).all()]
        if odd:
            raise ValueError(f"{odd[0]} holds what is no finite number")
        return Episode(**meta, **arrays)
    except FileNotFoundError:
        raise
    except BROKEN as error:
        raise ValueError(f"{path}: not a recorded episode: {error}") from error
