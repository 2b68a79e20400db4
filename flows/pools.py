"""Flow: build the pools."""

from prefect import flow

from deg_core.artifacts import Manifest
from deg_core.chain import build_pools
from deg_core.config import DataSettings, PoolSettings
from tasks.calls import as_task


@flow(name="pools")
def pools(settings: PoolSettings = PoolSettings(), data: DataSettings = DataSettings()) -> list[Manifest]:
    """Turn records files into pools; only what is new in a file is read again.

    Args:
        settings: Sources and how examples are made.
        data: The generated documents, for the source 'own'.
    """
    return build_pools(data, settings, as_task)


if __name__ == "__main__":
    pools()
