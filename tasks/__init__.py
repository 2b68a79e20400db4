"""The steps as Prefect tasks: settings in, manifest out."""

from tasks.environment import load_environment

load_environment()
