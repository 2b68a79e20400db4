"""The steps as Prefect tasks: settings in, manifest out."""

from tasks.environment import die_with_worker, load_environment

load_environment()
die_with_worker()
