"""Flow: the whole chain, every night."""

from typing import Any

from prefect import flow
from prefect.states import Completed, State

from deg_core import chain
from deg_core.artifacts import Home
from deg_core.config import NightlySettings
from tasks.calls import as_task


@flow(name="nightly")
def nightly(settings: NightlySettings = NightlySettings()) -> State[Any]:
    """Data, pools, memory plan, training, temperatures, evaluation, gate, and the fill with the champion.

    Steps whose inputs did not change are not run again. A checkpoint that the gate refuses is no failure:
    the run ends as "Not promoted" and the old champion fills the corpus.
    """
    night = chain.nightly(settings, Home(), as_task)
    name = "Promoted" if night.decision.promote else "NotPromoted"
    return Completed(name=name, message="; ".join(night.decision.reasons))


if __name__ == "__main__":
    nightly()
