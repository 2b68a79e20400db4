"""The steps and the nightly chain as Prefect flows: one deployment a file."""
