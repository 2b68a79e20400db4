"""Flow: bulk fill of a corpus."""

from prefect import flow

from deg_core import steps
from deg_core.artifacts import Manifest
from deg_core.config import DataSettings, FillSettings
from tasks.calls import as_task


@flow(name="fill")
def fill(settings: FillSettings = FillSettings(), data: DataSettings = DataSettings()) -> Manifest:
    """Fill a schema from every document of a corpus and write typed Parquet.

    Args:
        settings: Corpus, schema, checkpoint and options.
        data: The generated documents, where corpus or schema is 'own'.
    """
    own = steps.OWN in (settings.corpus, settings.schema_path)
    documents = as_task(steps.build_data, data).path if own else None
    return as_task(steps.fill_corpus, settings, data=documents)


if __name__ == "__main__":
    fill()
