"""Flow: calibrate the memory plan."""

from prefect import flow

from deg_core.artifacts import Manifest
from deg_core.config import MemorySettings
from tasks.memory import calibrate_memory


@flow(name="memory")
def memory(settings: MemorySettings = MemorySettings()) -> Manifest:
    """Measure what training parts of many shapes take on this machine and fit the planner."""
    return calibrate_memory(settings)


if __name__ == "__main__":
    memory()
