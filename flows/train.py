"""Flow: one training run."""

from prefect import flow

from deg_core import steps
from deg_core.artifacts import Manifest
from deg_core.chain import build_pools
from deg_core.config import DataSettings, MemorySettings, PoolSettings, TrainSettings
from tasks.calls import as_task


@flow(name="train")
def train(
    settings: TrainSettings = TrainSettings(),
    pools: PoolSettings = PoolSettings(),
    data: DataSettings = DataSettings(),
    memory: MemorySettings | None = None,
) -> Manifest:
    """Build what pools need, then train; a run that was stopped goes on from its last checkpoint.

    Args:
        settings: Steps, learning rates, adapters, memory and processes.
        pools: Where its examples come from.
        data: The generated documents, for the source 'own'.
        memory: Measure memory first with these settings; None = the plan is analytic.
    """
    folders = [pool.path for pool in build_pools(data, pools, as_task)]
    plan = as_task(steps.calibrate_memory, memory).path if memory else None
    return as_task(steps.train, settings, pools=folders, memory=plan)


if __name__ == "__main__":
    train()
