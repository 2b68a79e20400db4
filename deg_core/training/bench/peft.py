"""The other way to train the same base on the same documents: transformers with peft (LoRA, arXiv:2106.09685).

A document is its context followed by its value as JSON; the loss is that of the JSON's tokens. Documents of a step
stand side by side, padded to the longest, with an attention mask. peft is the extra `bench`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from deg_core.config import TrainSettings
from deg_core.contract.errors import InputError

TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
IGNORED = -100


class PeftTraining:
    """The base with adapters of the same rank on the same projections, in the same compute type.

    Raises InputError when peft is not installed.
    """

    def __init__(self, base: Path, settings: TrainSettings, dtype: torch.dtype):
        if importlib.util.find_spec("peft") is None:
            raise InputError("peft is not installed; run: pip install 'deg[bench]'")
        from peft import LoraConfig, get_peft_model

        self._tokenizer: Any = AutoTokenizer.from_pretrained(base)
        config = LoraConfig(
            r=settings.lora_rank,
            lora_alpha=int(settings.lora_alpha),
            lora_dropout=0.0,
            target_modules=TARGETS,
            task_type="CAUSAL_LM",
        )
        plain = AutoModelForCausalLM.from_pretrained(base, dtype=dtype)
        self._model: Any = get_peft_model(plain, config, autocast_adapter_dtype=False)
        self._model.train()
        self._model.config.use_cache = False
        self._trained = [parameter for parameter in self._model.parameters() if parameter.requires_grad]
        self._optimizer = torch.optim.AdamW(self._trained, lr=settings.lr_trunk, betas=(0.9, 0.98), weight_decay=0.01)
        self._clip = settings.clip_norm

    @property
    def trained_elements(self) -> int:
        """Elements of the adapters."""
        return sum(parameter.numel() for parameter in self._trained)

    def step(self, documents: Sequence[tuple[str, str]]) -> tuple[int, int]:
        """One optimizer step over (context, JSON) texts; real tokens, and those with padding."""
        ids, mask, labels = self._batch(documents)
        loss = self._model(input_ids=ids, attention_mask=mask, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._trained, self._clip)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return int(mask.sum()), ids.numel()

    def _batch(self, documents: Sequence[tuple[str, str]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """ids, attention mask and labels, int64 [documents, tokens of the longest]."""
        end = [self._tokenizer.eos_token_id]
        read = [self._tokenizer.encode(context + "\n", add_special_tokens=False) for context, _ in documents]
        written = [self._tokenizer.encode(value, add_special_tokens=False) + end for _, value in documents]
        width = max(len(a) + len(b) for a, b in zip(read, written, strict=True))
        ids = torch.zeros(len(documents), width, dtype=torch.int64)
        mask, labels = torch.zeros_like(ids), torch.full_like(ids, IGNORED)
        for row, (a, b) in enumerate(zip(read, written, strict=True)):
            ids[row, : len(a) + len(b)] = torch.tensor(a + b)
            mask[row, : len(a) + len(b)] = 1
            labels[row, len(a) : len(a) + len(b)] = torch.tensor(b)
        return ids, mask, labels
