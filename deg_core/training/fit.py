"""Least squares with coefficients that are never negative, and an upper envelope of measurements.

n = measurements, f = features.
"""

from __future__ import annotations

import numpy as np

UNDER_WEIGHT = 100.0
MAX_ROUNDS = 50


def nnls(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """x [f] >= 0 that minimises |matrix x - target|; float64 [n, f] and [n] (Lawson and Hanson 1974, chapter 23).

    Raises ArithmeticError when the active set does not settle.
    """
    columns = matrix.shape[1]
    x = np.zeros(columns)
    free = np.zeros(columns, bool)
    tolerance = 10 * np.finfo(float).eps * max(matrix.shape) * np.abs(matrix).sum(0).max(initial=0.0)
    tolerance *= max(np.abs(target).max(initial=0.0), 1.0)
    for _ in range(3 * columns + 1):
        slope = matrix.T @ (target - matrix @ x)
        if free.all() or slope[~free].max() <= tolerance:
            return x
        free[np.where(free, -np.inf, slope).argmax()] = True
        x = _settle(matrix, target, x, free)
    raise ArithmeticError(f"no non-negative fit of {columns} features was found; measure more parts")


def _settle(matrix: np.ndarray, target: np.ndarray, x: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The least-squares solution over the free columns, pinning to zero those that would turn negative."""
    while True:
        solved = np.zeros_like(x)
        solved[free] = np.linalg.lstsq(matrix[:, free], target, rcond=None)[0]
        negative = free & (solved <= 0)
        if not negative.any():
            return solved
        share = (x[negative] / np.maximum(x[negative] - solved[negative], np.finfo(float).tiny)).min()
        x = x + share * (solved - x)
        free &= ~(negative & (x <= np.finfo(float).eps * np.abs(x).max(initial=0.0)))
        x[~free] = 0.0


def upper_fit(features: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Coefficients [f] >= 0 whose estimates lie on or above every measurement, and close to it.

    features: float64 [n, f]. measured: float64 [n], positive. Relative residuals are fitted, those of too low
    estimates with UNDER_WEIGHT (asymmetric least squares, Newey and Powell 1987); what remains too low is lifted by
    one factor.
    """
    width = features.max(0)
    used = width > 0
    relative = features[:, used] / width[used] / measured[:, None]
    weights = np.ones(len(measured))
    for _ in range(MAX_ROUNDS):
        root = np.sqrt(weights)
        x = nnls(relative * root[:, None], root)
        changed = np.where(relative @ x < 1.0, UNDER_WEIGHT, 1.0)
        if np.array_equal(changed, weights):
            break
        weights = changed
    found = np.zeros(features.shape[1])
    found[used] = x / width[used] * max(1.0, 1.0 / (relative @ x).min())
    return found
