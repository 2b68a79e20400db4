"""The steps and the nightly chain as Prefect flows: one deployment a file."""

import tasks  # noqa: F401  sets the variables of prefect.env, before a flow imports Prefect
