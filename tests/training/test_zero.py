"""Sharded optimizer: two and three gloo processes against one that steps whole masters on the summed gradient."""

import os
import socket
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from deg_core.contract.errors import InputError
from deg_core.training.optimizer import Gradients, Master, NonFiniteGradientError, OptimizerOptions, ParameterGroup
from deg_core.training.zero import (
    SHARD_BYTES,
    AloneAsFirst,
    ReplicaError,
    ZeroMaster,
    clipped,
    cut_buckets,
    digest,
    sharded_static_bytes,
)
from tests.training import tolerances

BUCKET = 40
STEPS = 5
SAVED_AFTER = 2
OPTIONS = OptimizerOptions(steps=10, warmup_steps=2, clip_norm=0.5)


def make_groups(seed: int) -> list[ParameterGroup]:
    """bf16 trunk weights that train from step 1 on, fp32 heads with another rate and decay."""
    random = torch.Generator().manual_seed(seed)
    trunk = [torch.randn(shape, generator=random).bfloat16().requires_grad_() for shape in ((7, 13), (64,), (5, 1))]
    heads = [torch.randn(shape, generator=random).requires_grad_() for shape in ((3, 9), ())]
    return [
        ParameterGroup(("a", "b", "c"), tuple(trunk), 1e-2, 0.1, first_step=1),
        ParameterGroup(("h", "s"), tuple(heads), 3e-2, 0.0),
    ]


def part_count(step: int, rank: int) -> int:
    """One part, two parts, and both kinds among the ranks of one step."""
    return (1, 2, 1 + rank % 2)[step % 3]


def set_gradient(tensors: list[torch.Tensor], *seed: int) -> None:
    random = torch.Generator().manual_seed(hash(seed) % (1 << 31))
    for tensor in tensors:
        tensor.grad = torch.randn(tensor.shape, generator=random).to(tensor.dtype)


def fill_gradients(gradients: Gradients, step: int, rank: int) -> None:
    """As the training step does: a lone part stays on the parameters."""
    count = part_count(step, rank)
    for part in range(count):
        set_gradient(gradients.tensors, step, rank, part)
        if count > 1:
            gradients.add()


def advance(master: ZeroMaster, step: int) -> float:
    fill_gradients(master.gradients, step, master.rank)
    return master.step(master.gradients, step)


def copied(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in state.items()}


def raises(kind: type[Exception], call, *arguments) -> bool:
    try:
        call(*arguments)
    except kind:
        return True
    return False


def worker(rank: int, world: int, port: int, folder: str) -> None:
    torch.set_num_threads(1)
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    dist.init_process_group("gloo", rank=rank, world_size=world)
    try:
        torch.save(scenario(rank), Path(folder) / f"rank-{rank}.pt")
    finally:
        dist.destroy_process_group()


def scenario(rank: int) -> dict:
    groups = make_groups(seed=rank)
    master = ZeroMaster(groups, OPTIONS, BUCKET)
    found: dict = {"shard_bytes": master.shard_bytes, "norms": []}
    for step in range(STEPS):
        found["norms"].append(advance(master, step))
        master.check_replicas()
        if step + 1 == SAVED_AFTER:
            saved = copied(master.state())
    found["weights"] = [tensor.detach().clone() for group in groups for tensor in group.tensors]
    found["state"] = copied(master.state())

    other = make_groups(seed=100 + rank)
    continued = ZeroMaster(other, OPTIONS, BUCKET)
    continued.load(saved)
    for step in range(SAVED_AFTER, STEPS):
        advance(continued, step)
    found["continued"] = copied(continued.state())
    found["continued_weights"] = [tensor.detach().clone() for group in other for tensor in group.tensors]

    set_gradient(master.gradients.tensors, 77)
    if rank == 1:
        master.gradients.tensors[0].grad[0, 0] = float("inf")
    found["refused"] = raises(NonFiniteGradientError, master.step, master.gradients, STEPS)
    found["after_refusal"] = copied(master.state())
    found["other_layout"] = raises(InputError, ZeroMaster(make_groups(0), OPTIONS, BUCKET + 1).load, saved)
    if rank == 1:
        with torch.no_grad():
            groups[0].tensors[1][3] += 1
    found["differ"] = raises(ReplicaError, master.check_replicas)
    return found


@pytest.fixture(scope="module", params=[2, 3])
def ranks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    """What each rank of a group of two, and of three, found."""
    folder = tmp_path_factory.mktemp(f"world-{request.param}")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    mp.spawn(worker, (request.param, port, str(folder)), nprocs=request.param)
    return [torch.load(folder / f"rank-{rank}.pt") for rank in range(request.param)]


def whole_masters(world: int) -> tuple[Master, list[float]]:
    """One process on the sum of all ranks' gradients, from rank 0's weights."""
    master = Master(make_groups(seed=0), OPTIONS)
    norms = []
    for step in range(STEPS):
        for rank in range(world):
            for part in range(part_count(step, rank)):
                set_gradient(master.gradients.tensors, step, rank, part)
                master.gradients.add()
        norms.append(master.step(master.gradients, step))
    return master, norms


def gathered(ranks: list[dict], name: str) -> list[torch.Tensor]:
    """A sharded state tensor of all ranks, as one flat tensor for each parameter."""
    weights = ranks[0]["weights"]
    whole = [torch.full((tensor.numel(),), torch.nan) for tensor in weights]
    filled = [0] * len(ranks)
    for bucket in cut_buckets(weights, len(ranks), BUCKET):
        for rank, found in enumerate(ranks):
            low, high = bucket.owned(rank)
            for run in clipped(bucket.runs, low, high):
                at = filled[rank] + run.at
                whole[run.index][run.start : run.stop] = found["state"][name][at : at + run.stop - run.start]
            filled[rank] += high - low
    return whole


def test_shards_equal_whole_masters(ranks: list[dict]):
    reference, norms = whole_masters(len(ranks))
    state = reference.state()
    names = [name for group in reference.clock.groups for name in group.names]
    for kind in ("master", "exp_avg", "exp_avg_sq"):
        for name, found in zip(names, gathered(ranks, kind), strict=True):
            torch.testing.assert_close(
                found, state[f"{name}:{kind}"].view(-1), rtol=tolerances.MASTER, atol=tolerances.MASTER
            )
    for found in ranks:
        assert found["norms"] == pytest.approx(norms, rel=tolerances.NORM)
        assert torch.equal(found["state"]["updates"], state["updates"])


def test_compute_weights_are_the_masters_rounded_on_every_rank(ranks: list[dict]):
    rounded = gathered(ranks, "master")
    for found in ranks:
        assert digest(found["weights"]) == digest(ranks[0]["weights"])
        for weight, master in zip(found["weights"], rounded, strict=True):
            assert torch.equal(weight.view(-1), master.to(weight.dtype))


def test_a_loaded_state_continues_bit_for_bit(ranks: list[dict]):
    for found in ranks:
        assert digest(found["continued_weights"]) == digest(found["weights"])
        for name, tensor in found["state"].items():
            assert torch.equal(found["continued"][name], tensor), name
        assert found["other_layout"]


def test_one_ranks_infinite_gradient_stops_every_rank_and_changes_nothing(ranks: list[dict]):
    for found in ranks:
        assert found["refused"]
        for name, tensor in found["state"].items():
            assert torch.equal(found["after_refusal"][name], tensor), name


def test_a_changed_replica_is_noticed_by_every_rank(ranks: list[dict]):
    assert all(found["differ"] for found in ranks)


def test_shards_take_what_the_formula_says(ranks: list[dict]):
    weights = ranks[0]["weights"]
    elements = sum(weight.numel() for weight in weights)
    buckets = len(cut_buckets(weights, len(ranks), BUCKET))
    assert sum(found["shard_bytes"] for found in ranks) == SHARD_BYTES * elements
    expected = sharded_static_bytes(elements, len(ranks), 0)
    for found in ranks:
        assert abs(found["shard_bytes"] - expected) <= SHARD_BYTES * buckets * len(ranks)


def test_the_formula_of_static_bytes():
    assert sharded_static_bytes(1000, 1, 2) == 18_000
    assert sharded_static_bytes(1000, 4, 2) == 6_000


@pytest.mark.parametrize("world", [1, 2, 3, 7])
@pytest.mark.parametrize("size", [1, 10, 39, 1000])
def test_every_element_lies_in_one_bucket_and_has_one_owner(world: int, size: int):
    tensors = [tensor for group in make_groups(0) for tensor in group.tensors]
    seen = [torch.zeros(tensor.numel(), dtype=torch.int64) for tensor in tensors]
    for bucket in cut_buckets(tensors, world, size):
        assert bucket.numel == sum(run.stop - run.start for run in bucket.runs) <= size
        assert bucket.piece * world >= bucket.numel
        assert {tensors[run.index].dtype for run in bucket.runs} == {bucket.dtype}
        for rank in range(world):
            low, high = bucket.owned(rank)
            assert high - low <= bucket.piece
            for run in clipped(bucket.runs, low, high):
                seen[run.index][run.start : run.stop] += 1
    assert all((count == 1).all() for count in seen)


def test_digest_tells_signed_zeros_and_order_apart():
    a, b = torch.tensor([0.0, 1.0]), torch.tensor([-0.0, 1.0])
    assert digest([a]) != digest([b])
    assert digest([a, b]) != digest([b, a])
    assert digest([a.clone(), b.clone()]) == digest([a, b])


def test_a_simulated_first_rank_has_the_memory_and_the_own_updates_of_a_real_one():
    """The first pieces train as if the other ranks had no gradient; the rest of the weights stays as it was."""
    groups, whole = make_groups(seed=0), make_groups(seed=0)
    alone, master = ZeroMaster(groups, OPTIONS, BUCKET, AloneAsFirst(3)), Master(whole, OPTIONS)
    buckets = cut_buckets([tensor for group in groups for tensor in group.tensors], 3, BUCKET)
    owned = sum(high - low for low, high in (bucket.owned(0) for bucket in buckets))
    assert alone.shard_bytes == 16 * owned
    before = [tensor.detach().clone() for group in groups for tensor in group.tensors]
    gradients = [tensor for group in whole for tensor in group.tensors]
    set_gradient(gradients, 7)
    set_gradient(alone.gradients.tensors, 7)
    own_norm, norm = alone.step(alone.gradients, 3), master.step(master.gradients, 3)
    assert 0 < own_norm <= norm
    alone.check_replicas()
    runs = [run for bucket in buckets for run in clipped(bucket.runs, *bucket.owned(0))]
    mine = {(run.index, at) for run in runs for at in range(run.start, run.stop)}
    for index, (was, now) in enumerate(zip(before, alone.gradients.tensors, strict=True)):
        changed = (was != now.detach()).flatten().nonzero().flatten().tolist()
        assert {(index, at) for at in changed} <= mine
    assert len(mine) == owned > 0
