"""Flow: evaluate a checkpoint."""

from pathlib import Path

from prefect import flow

from deg_core import steps
from deg_core.artifacts import Home, Manifest
from deg_core.chain import checkpoint_of, own_data
from deg_core.config import DataSettings, EvaluateSettings, PoolSettings
from tasks.calls import as_task


@flow(name="evaluate")
def evaluate(
    settings: EvaluateSettings = EvaluateSettings(),
    checkpoint: str = "newest",
    pools: PoolSettings = PoolSettings(),
    data: DataSettings = DataSettings(),
) -> Manifest:
    """Compare a checkpoint with gold values and with constrained decoding on the same documents.

    Args:
        settings: Splits, sample and baseline.
        checkpoint: Checkpoint folder, 'newest' for the newest calibration, or 'champion'.
        pools: The records files (only their paths are used).
        data: The generated documents, for the source 'own'.
    """
    documents = own_data(data, as_task, pools)
    home = Home()
    if checkpoint == "newest":
        folder = checkpoint_of(steps.newest(home, "calibrations", "the flow calibrate"))
    else:
        folder = steps.filling_checkpoint(checkpoint, home) if checkpoint == "champion" else Path(checkpoint)
    return as_task(
        steps.evaluate,
        settings,
        checkpoint=folder,
        records=steps.record_files(pools, documents.path if documents else None),
    )


if __name__ == "__main__":
    evaluate()
