"""Settings of every step, typed once: the flow's form, the YAML, the options and the manifest."""

from deg_core.config.settings import (
    ArrayDecode,
    ArrayMode,
    CalibrateSettings,
    DataSettings,
    EvaluateSettings,
    FillOptions,
    FillSettings,
    Forks,
    GateSettings,
    GeneratorSettings,
    GenLayout,
    MemorySettings,
    NightlySettings,
    PoolSettings,
    SourceSettings,
    TrainSettings,
)

__all__ = [
    "ArrayDecode",
    "ArrayMode",
    "CalibrateSettings",
    "DataSettings",
    "EvaluateSettings",
    "FillOptions",
    "FillSettings",
    "Forks",
    "GateSettings",
    "GeneratorSettings",
    "GenLayout",
    "MemorySettings",
    "NightlySettings",
    "PoolSettings",
    "SourceSettings",
    "TrainSettings",
]
