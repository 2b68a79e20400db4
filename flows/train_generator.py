"""Flow: train an adapter with which the base writes generated text."""

from prefect import flow

from deg_core import steps
from deg_core.artifacts import Manifest
from deg_core.chain import build_pools
from deg_core.config import DataSettings, GeneratorSettings, PoolSettings
from tasks.calls import as_task


@flow(name="train-generator")
def train_generator(
    settings: GeneratorSettings = GeneratorSettings(),
    pools: PoolSettings = PoolSettings(),
    data: DataSettings = DataSettings(),
) -> Manifest:
    """Train on the generated texts of records; fills use it with generate: base+lora:FOLDER.

    Args:
        settings: Steps, rate, rank and when to stop.
        pools: Where its examples come from; their layout is set for it.
        data: The generated documents, for the source 'own'.
    """
    folders = [pool.path for pool in build_pools(data, steps.written(pools), as_task)]
    return as_task(steps.train_generator, settings, pools=folders)


if __name__ == "__main__":
    train_generator()
