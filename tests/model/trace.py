"""What a function asks of torch and of kernels, call by call."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Trace(TorchDispatchMode):
    """calls: each with its operands, in order: tensors made on the way by number, all others by address.

    outside: the addresses of the others. Two runs with equal calls do the same work on the same memory.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Any] = []
        self.outside: set[int] = set()
        self._made: dict[int, int] = {}
        self._alive: list[Any] = []
        self._paused = False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if self._paused:
            return function(*args, **(kwargs or {}))
        self.calls.append((str(function), self._described(args), self._described(kwargs or {})))
        found = function(*args, **(kwargs or {}))
        self._alive.append(found)
        for tensor in found if isinstance(found, (tuple, list)) else (found,):
            if isinstance(tensor, torch.Tensor) and (at := _address(tensor)) not in self.outside:
                self._made.setdefault(at, len(self._made))
        return found

    def launched(self, kernel):
        """A Triton kernel whose launches are recorded; what the interpreter does for them is not."""
        return _Recorded(self, kernel)

    def launch(self, kernel, grid, args, options):
        """Record a launch and do it."""
        self.calls.append((kernel.__name__, self._described(grid), self._described(args), self._described(options)))
        self._paused = True
        kernel[grid](*args, **options)
        self._paused = False

    def _described(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            at = _address(value)
            if at not in self._made:
                self.outside.add(at)
            place = self._made.get(at, ("at", at))
            return place, value.dtype, tuple(value.shape), value.stride(), value.storage_offset()
        if isinstance(value, (tuple, list)):
            return tuple(map(self._described, value))
        return {key: self._described(each) for key, each in value.items()} if isinstance(value, dict) else value


class _Recorded:
    def __init__(self, trace: Trace, kernel):
        self._trace, self._kernel = trace, kernel

    def __getitem__(self, grid):
        return lambda *args, **options: self._trace.launch(self._kernel, grid, args, options)


def _address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
