"""What one rank of a ZeRO-2 run takes in memory and time, with the other ranks left out (`zero_sim_world`)."""

from __future__ import annotations

from functools import partial

from deg_core.training.bench.own import OwnTraining
from deg_core.training.bench.speed import timed
from deg_core.training.zero import ZeroMaster


def measure_sharded(training: OwnTraining, steps: int) -> dict[str, float]:
    """Seconds of a step and bytes of the optimizer for each trained element, of rank 0 of the training's world.

    What ranks tell each other costs nothing here; the memory and the work of this rank are those of a real run.
    """
    master = training.master
    assert isinstance(master, ZeroMaster)
    training.step(training.draw(0))  # libraries set themselves up in the first
    total = sum(timed(partial(training.step, training.draw(number)))[1] for number in range(1, steps + 1))
    elements = master.gradients.numel
    compute = sum(tensor.nbytes for tensor in master.gradients.tensors)
    return {
        "zero_sim_world": master.world,
        "zero_step_s": total / steps,
        "zero_shard_bytes_an_element": master.shard_bytes / elements,
        "zero_bytes_an_element": (master.shard_bytes + compute) / elements,
    }
