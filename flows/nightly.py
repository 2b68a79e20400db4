"""Flow: the whole chain, every night. `python -m flows.nightly --config data/demo.yaml` runs it here and now."""

from typing import Any

import typer
from prefect import flow
from prefect.states import Completed, State

from deg_core import chain
from deg_core.artifacts import Home
from deg_core.chain import Night
from deg_core.cli.chain import report_night
from deg_core.cli.options import takes_settings
from deg_core.cli.outcome import run
from deg_core.config import NightlySettings
from tasks.calls import as_task


@flow(name="nightly")
def nightly(settings: NightlySettings = NightlySettings()) -> State[Night]:
    """Data, pools, memory plan, training, temperatures, evaluation, gate, and the fill with the champion.

    Steps whose inputs did not change are not run again. A checkpoint that the gate refuses is no failure:
    the run ends as "Not promoted" and the old champion fills the corpus.
    """
    night = chain.nightly(settings, Home(), as_task)
    name = "Promoted" if night.decision.promote else "NotPromoted"
    return Completed(name=name, message="; ".join(night.decision.reasons), data=night)


@takes_settings(NightlySettings)
def run_here(settings: NightlySettings) -> None:
    """Run the nightly flow in this process, with a server where PREFECT_API_URL names one, else with one for itself.

    Prints what `deg nightly` prints. Exit code 1: not promoted.
    """
    state: State[Any] = nightly(settings, return_state=True)  # typed as a state of the state that the flow returns
    report_night(state.result())


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(run_here)
    run(app)
