"""The work behind evaluate_folder.py."""

import math
from functools import partial

from qes_jax.assembly.evaluation.options import FolderOptions
from qes_jax.assembly.program import make_task
from qes_jax.assembly.trained import Trained, find_trained, load_trained
from qes_jax.assembly.trial import check_sight
from qes_jax.evaluate.folder.follow import Follower, make_follower
from qes_jax.evaluate.folder.groups import labels
from qes_jax.evaluate.folder.run import Gathered, follow_all, gather, write_report
from qes_jax.motion.clip import FPS, load_clip

tell = partial(print, flush=True)


def evaluate_folder(options: FolderOptions) -> str:
    """Import, follow, report; prints and returns the tables. Raises ValueError at wrong options before any work."""
    _check(options)
    trained = load_trained(find_trained(options.root, options.run))
    out = options.out or options.root / f"{trained.folder.name}-on-{options.folder.resolve().name}"
    cache = options.clips or out / "clips"
    gathered = gather(options.folder, trained.config.character.height, cache, options.limit, options.workers, tell)
    follower = _follower(trained, gathered, options)
    found = follow_all(follower, gathered.clips, out / "followed", tell)
    about = {"run": trained.folder.name, "folder": options.folder.name, "n_starts": options.starts}
    text = write_report(out, gathered, found, options.groups, about | {"seconds": options.seconds})
    tell(f"\n{text}\nwritten to {out}")
    return text


def _check(options: FolderOptions) -> None:
    labels([], options.groups)
    if options.starts < 1:
        raise ValueError(f"--starts {options.starts}: expected at least 1")
    if not 1.0 / FPS <= options.seconds < math.inf:
        raise ValueError(f"--seconds {options.seconds}: expected at least a frame's, {1.0 / FPS:.3f}")


def _follower(trained: Trained, gathered: Gathered, options: FolderOptions) -> Follower:
    """In one world that furnishes the scene of every recording."""
    scenes = list({repr(clip.scene.pieces): clip.scene for clip in gathered.clips}.values())
    task, params = make_task(trained.config, [load_clip(gathered.clips[0].path)], scenes)
    check_sight(trained, task, params)
    return make_follower(
        task, trained.mean_pose, trained.act, trained.policy, gathered.clips, options.starts, options.seconds
    )
