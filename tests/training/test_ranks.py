"""Real steps of two and three gloo ranks with ZeRO-2 against one process: the same update, however each rank cuts."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from deg_core.pools.example import Example
from deg_core.training.memory import optimizer_bytes
from deg_core.training.optimizer import Master, OptimizerOptions
from deg_core.training.step import step_counts
from deg_core.training.zero import SHARD_BYTES, ZeroMaster, digest
from tests.training import tolerances
from tests.training.families import RECORDS, WEIGHTS, Trained, records, write_bases

STEPS = 3
BUCKET = 5000
OPTIONS = OptimizerOptions(steps=10, eps=1e-2)
LORA_RANKS = {"llama": 4, "lfm2": 4, "qwen3.5": 0}


def batch(step: int) -> list[Example]:
    """The records of all ranks."""
    return records((*RECORDS, *RECORDS), seed=step)


def cut(trained: Trained, step: int, rank: int) -> None:
    """One part on every rank, several parts with shared trunks on every rank, and both among the ranks."""
    if step == 1 or (step == 2 and rank % 2):
        trained.fit_rows(5)
    else:
        trained.plan.target_bytes = float("inf")


def weights(trained: Trained) -> list[torch.Tensor]:
    return [tensor.detach().clone() for tensor in trained.gradients.tensors]


def worker(rank: int, world: int, port: int, root: str) -> None:
    torch.set_num_threads(1)
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    dist.init_process_group("gloo", rank=rank, world_size=world)
    try:
        found = {family: train_rank(Path(root) / family, family, rank, world) for family in LORA_RANKS}
        found["bytes"] = measured_bytes(Path(root) / "llama", world)
        torch.save(found, Path(root) / f"rank-{rank}.pt")
    finally:
        dist.destroy_process_group()


def train_rank(base: Path, family: str, rank: int, world: int) -> dict:
    trained = Trained(base, LORA_RANKS[family])
    master = ZeroMaster(trained.groups, OPTIONS, BUCKET)
    trained.gradients = master.gradients
    parts, losses = [], []
    for step in range(STEPS):
        own = batch(step)[rank::world]
        counts = step_counts(own)
        numbers = torch.tensor(list(counts.values()), dtype=torch.float64)
        dist.all_reduce(numbers)
        cut(trained, step, rank)
        result = trained.step(own, counts=dict(zip(counts, map(int, numbers), strict=True)))
        parts.append(result.parts)
        losses.append(sum(WEIGHTS[term] * loss for term, loss in result.losses.items()))
        master.step(master.gradients, step)
        master.check_replicas()
    return {"weights": weights(trained), "parts": parts, "losses": losses}


def measured_bytes(base: Path, world: int) -> dict[str, float]:
    """What a rank keeps beside its compute weights after the backward of a bfloat16 model: gradient and shard."""
    trained = Trained(base, 0, torch.bfloat16)
    master = ZeroMaster(trained.groups, OPTIONS, BUCKET)
    trained.gradients = master.gradients
    trained.step(records())
    trunk, heads = trained.groups
    return {
        "gradient": sum(tensor.grad.nbytes for tensor in trunk.tensors if tensor.grad is not None),
        "shard": master.shard_bytes,
        "trunk": sum(tensor.numel() for tensor in trunk.tensors),
        "heads": sum(tensor.numel() for tensor in heads.tensors),
        "planned": optimizer_bytes(trained.network, world),
    }


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ranks")
    write_bases(folder)
    return folder


@pytest.fixture(scope="module", params=[2, 3])
def ranks(request: pytest.FixtureRequest, root: Path) -> list[dict]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    mp.spawn(worker, (request.param, port, str(root)), nprocs=request.param)
    return [torch.load(root / f"rank-{rank}.pt") for rank in range(request.param)]


@pytest.fixture(scope="module")
def alone(root: Path) -> dict[str, dict]:
    """One process on the whole batch in one part."""
    found = {}
    for family, lora_rank in LORA_RANKS.items():
        trained = Trained(root / family, lora_rank)
        master = Master(trained.groups, OPTIONS)
        trained.gradients = master.gradients
        before, losses = weights(trained), []
        for step in range(STEPS):
            result = trained.step(batch(step))
            losses.append(sum(WEIGHTS[term] * loss for term, loss in result.losses.items()))
            master.step(master.gradients, step)
        found[family] = {"before": before, "weights": weights(trained), "losses": losses}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("family", LORA_RANKS)
def test_ranks_update_as_one_process_does(ranks: list[dict], alone: dict[str, dict], family: str):
    expected = alone[family]
    update = torch.cat([(a - b).flatten() for a, b in zip(expected["weights"], expected["before"], strict=True)])
    assert update.abs().max() > 0
    found = ranks[0][family]["weights"]
    wrong = torch.cat([(a - b).flatten() for a, b in zip(found, expected["weights"], strict=True)])
    assert wrong.norm() < tolerances.UPDATE * update.norm()
    for step, loss in enumerate(expected["losses"]):
        assert sum(rank[family]["losses"][step] for rank in ranks) == pytest.approx(loss, rel=tolerances.UPDATE)
    assert len({digest(rank[family]["weights"]) for rank in ranks}) == 1


@pytest.mark.slow
def test_ranks_cut_as_they_were_told(ranks: list[dict]):
    for number, rank in enumerate(ranks):
        for family in LORA_RANKS:
            first, second, third = rank[family]["parts"]
            assert first == 1 < second
            assert (third > 1) == bool(number % 2)


@pytest.mark.slow
def test_a_rank_keeps_two_bytes_and_its_share_of_sixteen(ranks: list[dict]):
    """Of a bfloat16 trunk; the heads' gradient is float32."""
    world = len(ranks)
    for rank in ranks:
        sizes = rank["bytes"]
        trunk, heads = sizes["trunk"], sizes["heads"]
        assert sum(other["bytes"]["shard"] for other in ranks) == SHARD_BYTES * (trunk + heads)
        measured = sizes["gradient"] / trunk + sizes["shard"] / (trunk + heads)
        assert measured == pytest.approx(2 + 16 / world, rel=1e-3)
        assert sizes["planned"] == pytest.approx(2 * trunk + 4 * heads + sizes["shard"], rel=1e-3)
