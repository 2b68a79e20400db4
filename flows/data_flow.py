"""Flow: generate the documents of our own."""

from prefect import flow

from deg_core.artifacts import Manifest
from deg_core.config import DataSettings
from tasks.data import build_data


@flow(name="data")
def data(settings: DataSettings = DataSettings()) -> Manifest:
    """Write generated documents with schema, gold value and spans, and a corpus to fill."""
    return build_data(settings)


if __name__ == "__main__":
    data()
