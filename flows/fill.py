"""Flow: bulk fill of a corpus."""

from prefect import flow

from deg_core import steps
from deg_core.artifacts import Manifest
from deg_core.chain import own_data
from deg_core.config import DataSettings, FillSettings
from tasks.calls import as_task


@flow(name="fill")
def fill(settings: FillSettings = FillSettings(), data: DataSettings = DataSettings()) -> Manifest:
    """Fill a schema from every document of a corpus and write typed Parquet.

    Args:
        settings: Corpus, schema, checkpoint and options.
        data: The generated documents, where corpus or schema is 'own'.
    """
    documents = own_data(data, as_task, settings)
    return as_task(steps.fill_corpus, settings, data=documents.path if documents else None)


if __name__ == "__main__":
    fill()
