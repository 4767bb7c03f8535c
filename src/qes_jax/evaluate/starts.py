"""Where evaluation starts, and clips long enough to be followed from there."""

from collections.abc import Sequence

import numpy as np

from qes_jax.motion.clip import Clip
from qes_jax.motion.continuation import continue_clip


def continued(clips: Sequence[Clip], seconds: float) -> list[Clip]:
    """Each clip continued so that `seconds` can be followed from any of its own frames."""
    return [continue_clip(c, c.duration + seconds + 1.0 / c.fps) for c in clips]


def all_starts(clips: Sequence[Clip], packed: Sequence[Clip]) -> np.ndarray:
    """Every frame of the clips themselves, as rows of the reference that packs their continued forms. (B,) int32."""
    offsets = np.cumsum([0, *(c.n_frames for c in packed)])[:-1]
    return np.concatenate([o + np.arange(c.n_frames) for o, c in zip(offsets, clips, strict=True)]).astype(np.int32)


def even_starts(starts: np.ndarray, n: int) -> np.ndarray:
    """`n` of the start frames at even distances, the first among them; all if there are no more than that."""
    if n < 1:
        raise ValueError(f"{n} start frames: expected at least 1")
    return starts if n >= len(starts) else starts[np.arange(n) * len(starts) // n]


def clip_of_start(starts: np.ndarray, packed: Sequence[Clip]) -> np.ndarray:
    """(B,) index of the clip that each row of the reference belongs to."""
    return np.searchsorted(np.cumsum([c.n_frames for c in packed]), starts, side="right")
