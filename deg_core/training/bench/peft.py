"""The other way to train the same base: transformers with peft (LoRA, arXiv:2106.09685) on written answers.

A document is what is read followed by what is to be written; the loss is that of the written tokens. Documents of a
step stand side by side, padded to the longest, with an attention mask. peft is the extra `bench`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from deg_core.config import TrainSettings
from deg_core.contract.errors import InputError

TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
IGNORED = -100

Answered = tuple[list[int], list[int]]
"""Token ids that are read, and those that are to be written after them."""


class PeftTraining:
    """The base with adapters of the same rank on the same projections, in the same compute type.

    with_care: adapters in float32, so that small updates are not lost, and logits of the written tokens alone, where the
    usual way computes them of every token. Raises InputError when peft is not installed.
    """

    def __init__(self, base: Path, settings: TrainSettings, dtype: torch.dtype, with_care: bool = False):
        if importlib.util.find_spec("peft") is None:
            raise InputError("peft is not installed; run: pip install 'deg[bench]'")
        from peft import LoraConfig, get_peft_model

        config = LoraConfig(
            r=settings.lora_rank,
            lora_alpha=int(settings.lora_alpha),
            lora_dropout=0.0,
            target_modules=TARGETS,
            task_type="CAUSAL_LM",
        )
        torch.manual_seed(settings.seed)
        plain = AutoModelForCausalLM.from_pretrained(base, dtype=dtype)
        self._model: Any = get_peft_model(plain, config, autocast_adapter_dtype=False)
        self._model.train()
        self._model.config.use_cache = False
        self._trained = [parameter for parameter in self._model.parameters() if parameter.requires_grad]
        for parameter in self._trained:
            parameter.data = parameter.data.to(torch.float32 if with_care else dtype)
        self._with_care = with_care
        self._optimizer = torch.optim.AdamW(self._trained, lr=settings.lr_trunk, betas=(0.9, 0.98), weight_decay=0.01)
        self._rate = settings.lr_trunk
        self._clip = settings.clip_norm

    @property
    def trained_elements(self) -> int:
        """Elements of the adapters."""
        return sum(parameter.numel() for parameter in self._trained)

    def step(self, documents: Sequence[Answered], rate: float = 1.0) -> tuple[int, int, float]:
        """One optimizer step at `rate` times the learning rate; real tokens, those with padding, and the loss."""
        ids, mask, labels = _batch(documents)
        loss = self._loss(ids, mask, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._trained, self._clip)
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate * rate
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return int(mask.sum()), ids.numel(), loss.item()

    def _loss(self, ids: torch.Tensor, mask: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        if not self._with_care:
            return self._model(input_ids=ids, attention_mask=mask, labels=labels).loss
        plain = self._model.get_base_model()
        hidden = plain.model(input_ids=ids, attention_mask=mask).last_hidden_state[:, :-1]
        written = labels[:, 1:] != IGNORED
        return torch.nn.functional.cross_entropy(plain.lm_head(hidden[written]).float(), labels[:, 1:][written])

    def save(self, folder: Path) -> None:
        """Write the base with the adapters merged into it as a Hugging Face model; the training ends with it."""
        self._model.merge_and_unload().save_pretrained(folder)


def _batch(documents: Sequence[Answered]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """ids, attention mask and labels, int64 [documents, tokens of the longest]."""
    width = max(len(read) + len(written) for read, written in documents)
    ids = torch.zeros(len(documents), width, dtype=torch.int64)
    mask, labels = torch.zeros_like(ids), torch.full_like(ids, IGNORED)
    for row, (read, written) in enumerate(documents):
        end = len(read) + len(written)
        ids[row, :end] = torch.tensor(read + written)
        mask[row, :end] = 1
        labels[row, len(read) : end] = torch.tensor(written)
    return ids, mask, labels
