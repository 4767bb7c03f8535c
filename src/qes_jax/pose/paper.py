"""The published system: a tied auto-encoder of poses, and solvers that move its latent code to targets.

"Learning-based pose edition for efficient and interactive design". Layer sizes, losses and rates are those of the
authors' public code; a pose is 22 x 3 positions in the canonical frame, each normalised over the training data.
"""

from itertools import pairwise
from typing import Any, NamedTuple, cast

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.pose.skeleton import JOINTS, SETS, numbers

FEATURES = 3 * len(JOINTS)  # 66
CODER = (200, 200, 64)
SOLVER = (126, 126, 64)
ORDER = ("head", "feet", "hands")  # in which solvers are combined


class AutoEncoder(nn.Module):
    """66-200-200-64, ReLU, linear ends. The decoder uses the encoder's matrices, transposed, and biases of its own."""

    def setup(self) -> None:
        """Three matrices and six biases."""
        sizes = (FEATURES, *CODER)
        pairs = list(pairwise(sizes))
        init = nn.initializers.lecun_normal()
        self.matrices = [self.param(f"matrix{i}", init, pair) for i, pair in enumerate(pairs)]
        self.up = [self.param(f"up{i}", nn.initializers.zeros, (b,)) for i, (_, b) in enumerate(pairs)]
        self.down = [self.param(f"down{i}", nn.initializers.zeros, (a,)) for i, (a, _) in enumerate(pairs)]

    def encode(self, x: jax.Array) -> jax.Array:
        """Normalised poses (N, 66) -> codes (N, 64)."""
        for i, (matrix, bias) in enumerate(zip(self.matrices, self.up, strict=True)):
            x = x @ matrix + bias
            x = nn.relu(x) if i < len(self.matrices) - 1 else x
        return x

    def decode(self, z: jax.Array) -> jax.Array:
        """Codes (N, 64) -> normalised poses (N, 66)."""
        for i, (matrix, bias) in reversed(list(enumerate(zip(self.matrices, self.down, strict=True)))):
            z = z @ matrix.T + bias
            z = nn.relu(z) if i > 0 else z
        return z

    def __call__(self, x: jax.Array) -> jax.Array:
        """The pose as it comes out again."""
        return self.decode(self.encode(x))


class LatentSolver(nn.Module):
    """[code, targets] -126-126-64, ReLU: a new code."""

    @nn.compact
    def __call__(self, z: jax.Array, targets: jax.Array) -> jax.Array:
        """Codes (N, 64) and normalised target positions (N, 3 k) -> codes (N, 64)."""
        x = jnp.concatenate([z, targets], axis=-1)
        for i, size in enumerate(SOLVER):
            x = nn.Dense(size)(x)
            x = nn.relu(x) if i < len(SOLVER) - 1 else x
        return x


def apply(module: nn.Module, params: Any, *inputs: jax.Array, method: str | None = None) -> jax.Array:
    """A module's only result, which Flax's types do not tell."""
    return cast(jax.Array, module.apply(params, *inputs, method=method))


class Scale(NamedTuple):
    """Of each of the 66 features. The root's never change: they count as of deviation 1."""

    mean: jax.Array
    deviation: jax.Array


class Paper(NamedTuple):
    """Everything that was trained: Flax parameters."""

    scale: Scale
    coder: Any
    solvers: dict[str, Any]  # one for each of skeleton.SETS


def scale_of(points: np.ndarray) -> Scale:
    """The scale of joints (M, 22, 3)."""
    flat = points.reshape(len(points), -1).astype(np.float64)
    deviation = flat.std(axis=0)
    safe = np.where(deviation < 1e-4, 1.0, deviation)
    return Scale(jnp.asarray(flat.mean(axis=0), jnp.float32), jnp.asarray(safe, jnp.float32))


def columns_of(name: str) -> np.ndarray:
    """(3 k,) features that are the targets of a solver."""
    return (3 * numbers(SETS[name])[:, None] + np.arange(3)).ravel()


def solve(paper: Paper, names: tuple[str, ...], points: jax.Array, goal: jax.Array) -> jax.Array:
    """Joints (N, 22, 3) after the named solvers, one after the other: the published sequence of codes.

    goal (N, 22, 3) [m] is read at the solvers' joints only.
    """
    coder, (mean, deviation) = AutoEncoder(), paper.scale
    normal, wanted = ((x.reshape(len(x), -1) - mean) / deviation for x in (points, goal))
    z = apply(coder, paper.coder, normal, method="encode")
    for name in names:
        z = apply(LatentSolver(), paper.solvers[name], z, wanted[:, columns_of(name)])
    decoded = apply(coder, paper.coder, z, method="decode")
    return (decoded * deviation + mean).reshape(points.shape)
