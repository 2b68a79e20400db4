"""A backbone: forward(ids, rows) -> hidden, states, over explicit state (contract section 12.1).

E = hidden width, N = flat tokens.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from deg_core.contract.errors import InputError
from deg_core.model.allocator import keep_heap
from deg_core.model.families import family_of
from deg_core.model.families.norm import rms_norm
from deg_core.model.projection import Projector
from deg_core.model.rows import Rows
from deg_core.model.state import State

keep_heap()

VIEW_EPS = 1e-5


class Backbone:
    """Family functions and base weights; no state of its own.

    weights: name -> tensor in the compute dtype, on one device.
    """

    def __init__(self, family, weights: Mapping[str, torch.Tensor]):
        self.family = family
        self.weights = dict(weights)
        self.shape = family.shape

    @classmethod
    def load(
        cls,
        folder: str | Path,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        change: Callable[[Mapping[str, torch.Tensor]], Mapping[str, torch.Tensor]] | None = None,
    ) -> Backbone:
        """Read a Hugging Face folder (config.json and *.safetensors); raises InputError when it does not fit.

        change: what is done to its tensors before they become this family's weights.
        """
        folder = Path(folder)
        family = read_family(folder / "config.json")
        tensors: dict[str, torch.Tensor] = {}
        for path in sorted(folder.glob("*.safetensors")):
            try:
                with safe_open(path, framework="pt") as file:
                    tensors |= {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
            except SafetensorError as error:
                raise InputError(f"{path} is damaged: {error}; copy the base again") from error
        try:
            weights = family.load(change(tensors) if change else tensors)
        except KeyError as error:
            raise InputError(f"{folder} lacks the tensor {error}; is it a {type(family).__name__} model?") from error
        moved: dict[int, torch.Tensor] = {}
        for name, tensor in weights.items():
            if id(tensor) not in moved:
                moved[id(tensor)] = tensor.to(device=device, dtype=dtype).contiguous()
            weights[name] = moved[id(tensor)]
        return cls(family, weights)

    @property
    def device(self) -> torch.device:
        return self.weights["embed"].device

    @property
    def dtype(self) -> torch.dtype:
        return self.weights["embed"].dtype

    def forward(
        self,
        ids: torch.Tensor,
        rows: Rows,
        project: Projector | None = None,
        *,
        keep: bool = False,
        apart: bool = False,
        views: Sequence[float] = (),
    ) -> tuple[torch.Tensor, list[State]]:
        """Read every row after its prefix.

        ids: int64 [N]. Returns the final hidden states [N, E] after the last norm and, with keep, each row's state;
        apart: with the keys, values and length of its own tokens alone, without its prefix's.
        views: depths, as shares of the layers; the states there, normed, stand beside the final ones: [N, (1 + v) E].
        With an exact projector a row's result depends on that row and its prefix alone, bit for bit, whatever rows are
        beside it.
        """
        project = project or Projector(self.weights)
        if ids.shape[0] != rows.tokens:
            raise ValueError(f"{ids.shape[0]} ids for rows of {rows.tokens} tokens")
        positions = rows.positions.to(ids.device)
        if project.tile and ids.shape[0] % project.tile:
            padding = project.tile - ids.shape[0] % project.tile
            ids = torch.nn.functional.pad(ids, (0, padding))
            positions = torch.nn.functional.pad(positions, (0, padding))
        x = torch.nn.functional.embedding(ids, self.weights["embed"])
        rotary = self.family.rotary(positions, x.dtype)
        kept: list[list] = [[] for _ in rows.lengths]
        depths = [round(depth * self.shape.layers) for depth in views]
        seen: dict[int, torch.Tensor] = {}
        for index in range(self.shape.layers):
            if index in depths:
                seen[index] = rms_norm(x, None, VIEW_EPS, exact=project.exact)
            x, own = self.family.layer(index, x, project, rotary, rows, grouped=not project.exact)
            rows.rewrite(index, own)
            for row, layer_state in enumerate(own if keep else ()):
                before = None if apart else rows.before(row, index)
                kept[row].append(self.family.keep(index, before, layer_state))
        hidden = self.family.norm(x, project.weights["norm"], project.exact)
        if depths:
            hidden = torch.cat((hidden, *(seen[depth] for depth in depths)), -1)
        hidden = hidden[: rows.tokens]
        lengths = [length + (0 if apart else rows.prefix_length(row)) for row, length in enumerate(rows.lengths)]
        states = [State(length, tuple(layers)) for length, layers in zip(lengths, kept, strict=True) if keep]
        return hidden, states


def read_family(path: Path):
    """The family of a base by its config.json; raises InputError when there is none for it."""
    try:
        return family_of(json.loads(path.read_text()))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    except KeyError as error:
        raise InputError(f"{path} lacks the setting {error}") from error
