"""Builds a pool in a process of its own, for a test to kill: records file, base, home, workers, part bytes."""

import sys

from deg_core.artifacts import Home
from deg_core.config import PoolSettings, SourceSettings
from deg_core.pools.build import build_pool
from deg_core.progress import Silent

if __name__ == "__main__":
    records, base, home, workers, part_bytes = sys.argv[1:]
    settings = PoolSettings(sources=(SourceSettings(records=records),), base=base)
    build_pool(settings.sources[0], settings, Home(home), Silent(), workers=int(workers), part_bytes=int(part_bytes))
