"""Gauss-Newton's normal equations of a whole clip: block-banded, since no residual spans more than three frames."""

import numpy as np
from scipy.linalg import solveh_banded


class Normal:
    """Sums J^T J and J^T r of residuals over T frames of n unknowns each."""

    def __init__(self, frames: int, n: int) -> None:
        self.n = n
        self.here = np.zeros((frames, n, n))  # J_t^T J_t
        self.next = np.zeros((frames - 1, n, n))  # J_t^T J_t+1
        self.second = np.zeros((frames - 2, n))  # the diagonal of J_t^T J_t+2, all there is of it
        self.gradient = np.zeros((frames, n))

    def add(self, jac: np.ndarray, residual: np.ndarray) -> None:
        """Residuals (T, R) of one frame each, with Jacobians (T, R, n)."""
        transposed = np.swapaxes(jac, 1, 2)
        self.here += transposed @ jac
        self.gradient += (transposed @ residual[..., None])[..., 0]

    def add_changes(self, jac: np.ndarray, change: np.ndarray, weight: np.ndarray) -> None:
        """Residuals weight (T-1, R) x change (T-1, R): of quantities of Jacobians jac (T, R, n) to the next frame."""
        before, after = weight[..., None] * jac[:-1], weight[..., None] * jac[1:]
        before_t, after_t = np.swapaxes(before, 1, 2), np.swapaxes(after, 1, 2)
        self.here[:-1] += before_t @ before
        self.here[1:] += after_t @ after
        self.next -= before_t @ after
        residual = (weight * change)[..., None]
        self.gradient[:-1] -= (before_t @ residual)[..., 0]
        self.gradient[1:] += (after_t @ residual)[..., 0]

    def add_accelerations(self, steps: np.ndarray, weight: np.ndarray) -> None:
        """Residuals weight (n,) x the change of steps (T-1, n), where step t leads from frame t to t+1."""
        residual = weight**2 * np.diff(steps, axis=0)
        diagonal = np.einsum("tii->ti", self.here)
        between = np.einsum("tii->ti", self.next)
        for shift, sign in ((0, 1.0), (1, -2.0), (2, 1.0)):
            rows = slice(shift, len(residual) + shift)
            self.gradient[rows] += sign * residual
            diagonal[rows] += sign**2 * weight**2
        between[:-1] -= 2 * weight**2
        between[1:] -= 2 * weight**2
        self.second += weight**2

    def add_values(self, residual: np.ndarray, weight: np.ndarray | float) -> None:
        """Residuals weight x residual (T, n) of the unknowns themselves; weight broadcasts."""
        square = np.broadcast_to(np.square(weight), residual.shape)
        np.einsum("tii->ti", self.here)[:] += square
        self.gradient += square * residual

    def step(self, damping: float) -> np.ndarray:
        """(T, n) Gauss-Newton step: minus the inverse of (J^T J + damping) times J^T r, by a banded Cholesky factor."""
        n, frames = self.n, len(self.here)
        band = np.zeros((2 * n + 1, frames * n))  # band[2 n + i - j, j] holds entry (i, j)
        for a in range(n):
            for b in range(n):
                if a <= b:
                    band[2 * n + a - b, b::n] = self.here[:, a, b]
                band[n + a - b, n + b :: n] = self.next[:, a, b]
            band[0, 2 * n + a :: n] = self.second[:, a]
        band[2 * n] += damping
        return -solveh_banded(band, self.gradient.ravel(), check_finite=False).reshape(frames, n)
