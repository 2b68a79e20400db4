"""Flow: temperatures of a checkpoint."""

from pathlib import Path

from prefect import flow

from deg_core import steps
from deg_core.artifacts import Home, Manifest
from deg_core.chain import build_pools, checkpoint_of
from deg_core.config import CalibrateSettings, DataSettings, PoolSettings
from tasks.calls import as_task


@flow(name="calibrate")
def calibrate(
    settings: CalibrateSettings = CalibrateSettings(),
    checkpoint: str = "newest",
    pools: PoolSettings = PoolSettings(),
    data: DataSettings = DataSettings(),
) -> Manifest:
    """Find one temperature per head kind on validation records.

    Args:
        settings: How many records.
        checkpoint: Checkpoint folder, or 'newest' for the newest training run.
        pools: Where validation records come from.
        data: The generated documents, for the source 'own'.
    """
    folders = [pool.path for pool in build_pools(data, pools, as_task)]
    newest = checkpoint == "newest"
    folder = checkpoint_of(steps.newest(Home(), "runs", "the flow train")) if newest else Path(checkpoint)
    return as_task(steps.calibrate, settings, checkpoint=folder, pools=folders)


if __name__ == "__main__":
    calibrate()
