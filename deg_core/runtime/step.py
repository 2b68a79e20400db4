"""One decode step of all rows, on fixed buffers; on CUDA a captured graph.

M = rows, V = vocabulary, E = hidden width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch

from deg_core.kernels.select import takes
from deg_core.model.backbone import Backbone
from deg_core.model.decode import DecodeRows
from deg_core.model.network import Network
from deg_core.model.projection import DECODE_TILE, tiled_linear


class DecodeStep:
    """From every row's next token to the logits after it.

    Where kernels compute, nothing in `step` depends on a number that changes: they read ids, positions, places and
    lengths from the rows' tensors. There a graph of it is captured. Without kernels `step` cuts keys to their length.

    logits: float32 [M, V], written by each run.
    """

    def __init__(self, network: Network, rows: DecodeRows):
        self.rows = rows
        self._backbone = network.backbone
        self._project = network.projector(context=False, exact=True, tile=DECODE_TILE)
        head = network.backbone.weights["lm_head"]
        self.logits = torch.empty(len(rows), len(head), dtype=torch.float32, device=head.device)
        self._graph = Graph() if is_captured(head) else None

    def run(self, tokens: Mapping[int, int]) -> torch.Tensor:
        """The logits after these tokens, see DecodeRows.feed."""
        self.rows.feed(tokens)
        if self._graph:
            self._graph.run(self.step)
        else:
            self.step()
        return self.logits

    def step(self) -> None:
        """Reads the rows' ids, writes the logits after them; waits for nothing."""
        hidden, _ = self._backbone.forward(self.rows.ids, self.rows, self._project)
        self.logits.copy_(next_logits(self._backbone, hidden))

    def is_spent(self, going: Sequence[int]) -> bool:
        """Whether the rows that go on need another step: they have no room, or too few of the rows go on.

        Without a graph a row is dropped when it is done. A graph is made anew when half of its rows are done; until
        then they stay in it, idle: a captured step costs about the same for one row and for two.
        """
        most = 2 * len(going) if self._graph else len(going) + 1
        return len(self.rows) >= most or max(self.rows.used[row] for row in going) == self.rows.room


def is_captured(weight: torch.Tensor) -> bool:
    """Whether steps over such weights become graphs: on CUDA, where kernels compute."""
    return weight.is_cuda and takes(weight)


class Graph:
    """A function as a CUDA graph: what it launches, later launched again at once, on the same addresses."""

    def __init__(self) -> None:
        self._ran = False
        self._captured: torch.cuda.CUDAGraph | None = None

    def run(self, function: Callable[[], None]) -> None:
        """Run the function, the same in every call: the first time as it is, which compiles its kernels."""
        if not self._ran:
            self._ran = True
            function()
            return
        if self._captured is None:
            self._captured = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._captured, capture_error_mode="thread_local"):
                function()
        self._captured.replay()


def next_logits(backbone: Backbone, hidden_ME: torch.Tensor) -> torch.Tensor:
    """[M, V] in the compute dtype; a row's bits depend on that row alone."""
    padded = torch.nn.functional.pad(hidden_ME, (0, 0, 0, -len(hidden_ME) % DECODE_TILE))
    return tiled_linear(padded, backbone.weights["lm_head"], DECODE_TILE)[: len(hidden_ME)]
