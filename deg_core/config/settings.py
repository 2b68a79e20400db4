"""The settings models. Units are in the names; every field says what it is (the form shows it)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

ArrayMode = Literal["index", "anchor"]
GenLayout = Literal["deg", "chat"]
Forks = Literal["all", "generate"]
ArrayDecode = Literal["threshold", "count_peaks", "hybrid"]
ComputeType = Literal["auto", "float32", "bfloat16", "int8"]


class Settings(BaseModel):
    """Frozen; an unknown key is an error, so a typo fails loudly. Numbers are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class FillOptions(Settings):
    """Options of a fill request (contract section 9)."""

    max_new_tokens: int = Field(256, ge=1, description="Tokens of a generated field without a bound of its own.")
    max_items: int | None = Field(None, ge=0, description="Items of an array that names no maximum.")
    date_order: Literal["MDY", "DMY"] | None = Field(
        None, description="How to read 03/05/2026; empty = only if unambiguous."
    )
    default_offset: str | None = Field("Z", description="Offset of a date-time written without one.")
    temperature: float = Field(0.0, ge=0, description="Sampling temperature of generated text; needs a seed above 0.")
    seed: int | None = Field(None, description="Seed of sampling.")
    array_decode: ArrayDecode = Field(
        "count_peaks", description="How the items of an anchored array are found; see docs/arrays.md."
    )
    null_margin: float | None = Field(None, description="Nats by which a value must beat null where null is allowed.")


class DataSettings(Settings):
    """The documents of our own that the embedded default trains on."""

    seed: int = Field(7, description="Seed; the same seed gives the same files byte for byte.")
    train: int = Field(1200, ge=1, description="Training records.")
    val: int = Field(
        120, ge=0, description="Validation records: kinds seen in training, a quarter of the wordings unseen."
    )
    test: int = Field(
        60, ge=0, description="Test records: in turn kinds held out of training, and seen kinds in unseen wordings."
    )
    corpus: int = Field(120, ge=0, description="Unlabelled documents to fill.")


class SourceSettings(Settings):
    """One records file and its share of the micro-batches."""

    records: str = Field(min_length=1, description="Records file (JSON Lines), or 'own' for the generated documents.")
    weight: float = Field(1.0, gt=0, description="Share of the draws, relative to the other sources.")
    filler: bool = Field(
        True,
        description="Whether its records may train inside unrelated text (train.filler_frac); no where other texts may "
        "well hold what it asks for, such as names.",
    )


class GroupSettings(Settings):
    """A group of a manifest's sets."""

    group: str = Field(min_length=1, description="Name of the group in the manifest.")
    factor: float = Field(ge=0, description="What the proposed weights of its sets are multiplied with; 0 = left out.")


class PoolSettings(Settings):
    """Records to examples in Arrow files."""

    sources: tuple[SourceSettings, ...] = Field(
        (SourceSettings(records="own"),),
        description="Records files with their weights; where a manifest is named they are added to its sets.",
    )
    manifest: str = Field(
        "", description="JSON file that lists records files: sets of path, group and proposed_weight."
    )
    groups: tuple[GroupSettings, ...] = Field(
        (), description="Factors of the manifest's groups; a group that is not named here keeps its weights."
    )
    base: str = Field("smollm2-135m", description="Backbone whose tokenizer is used: a name or a local directory.")
    max_context_tokens: int = Field(
        6000, ge=64, description="A longer training context trains a window around a gold span at every draw."
    )
    array_mode: ArrayMode = Field(
        "index",
        description="How queries name array items: by number, or (anchor) by the text where they start. A checkpoint "
        "keeps the mode of the pools that it was trained on.",
    )
    anchor_min_tokens: int = Field(
        0, ge=0, description="In anchor mode, contexts of fewer tokens have their items named by number."
    )
    gen_layout: GenLayout = Field(
        "deg",
        description="How generated text is asked for: by lines of the queries' own form, or (chat) by an instruction that "
        "ends the user's turn of the base's chat. A checkpoint keeps the layout of its pools.",
    )
    forks: Forks = Field("all", description="Which queries train: all, or those of generated text alone.")
    max_bad_share: float = Field(
        0.2, ge=0, le=1, description="Stop when more than this share of a file's records is quarantined."
    )
    guard: tuple[str, ...] = Field(
        (), description="Evaluation records files; a record holding one of their contexts is left out and counted."
    )

    @model_validator(mode="before")
    @classmethod
    def _manifest_alone(cls, given: Any) -> Any:
        """A manifest without sources of one's own means its sets alone."""
        if isinstance(given, dict) and given.get("manifest") and "sources" not in given:
            return given | {"sources": ()}
        return given

    @model_validator(mode="after")
    def _some_source(self) -> PoolSettings:
        if not self.sources and not self.manifest:
            raise ValueError("pools.sources is empty and there is no manifest; name one or the other")
        if self.groups and not self.manifest:
            raise ValueError("pools.groups are of a manifest's sets; name the manifest")
        return self


class MemorySettings(Settings):
    """Memory-plan calibration: measure parts of many shapes, fit bytes per feature."""

    base: str = Field("smollm2-135m", description="Backbone: a name or a local directory.")
    target_gib: float = Field(6.0, gt=0, description="Memory that a training process may take, weights included.")
    max_part_tokens: int = Field(4096, ge=256, description="The largest part that is measured, in tokens.")
    lora_rank: int = Field(16, ge=0, description="Rank of the adapters that training will use; 0 = full fine-tuning.")
    lora_context: Literal["adapter", "base"] = Field("base", description="As training will have it.")


class TrainSettings(Settings):
    """One training run."""

    base: str = Field("smollm2-135m", description="Backbone: a name or a local Hugging Face directory.")
    init: str = Field(
        "default",
        description="Where adapters and heads start: 'default' (the checkpoint that ships), 'champion', 'fresh' or a folder.",
    )
    steps: int = Field(100, ge=1, description="Optimizer steps.")
    budget_tokens: int = Field(3000, ge=128, description="Trunk and fork tokens of a step and process.")
    max_records: int = Field(32, ge=1, description="Records of a step and process at most.")
    lr_trunk: float = Field(2e-4, gt=0, description="Peak learning rate of adapters or trunk weights.")
    lr_heads: float = Field(1e-4, gt=0, description="Peak learning rate of the heads.")
    warmup_steps: int = Field(10, ge=0, description="Steps of linear warm-up.")
    weight_decay: float = Field(0.01, ge=0, description="AdamW decay.")
    clip_norm: float = Field(
        50.0, gt=0, description="Global gradient norm to clip at; that of the heads alone is often 20 to 40."
    )
    lora_rank: int = Field(16, ge=0, description="Adapter rank; 0 = full fine-tuning.")
    lora_alpha: float = Field(32.0, gt=0, description="Adapter scale is alpha / rank.")
    lora_context: Literal["adapter", "base"] = Field(
        "base", description="Which weights read the context: the base model's (fast), or the adapted ones."
    )
    heads_only_steps: int = Field(0, ge=0, description="First steps that leave the backbone alone.")
    freeze_backbone: bool = Field(
        False, description="Train the heads alone: adapters and weights of the backbone stay as they are."
    )
    init_heads: str = Field(
        "",
        description="Where the heads start: empty = as in init; 'readout' = from the base's own preference among next "
        "tokens (as a fresh start has them), 'random', or a checkpoint folder.",
    )
    count_weight: float = Field(0.5, ge=0, description="Weight of the count loss.")
    anchor_weight: float = Field(1.0, ge=0, description="Weight of the loss of where array items start.")
    anchor_count_weight: float = Field(
        0.5, ge=0, description="Weight of the count loss of arrays whose items are named by their text."
    )
    lm_weight: float = Field(1.0, ge=0, description="Weight of the generated text's loss.")
    lm_kl_base: float = Field(
        0.0, ge=0, description="Weight of how far generated text moves from the base model, KL(base || model)."
    )
    loss_gnorm_every: int = Field(
        0, ge=0, description="Steps between logs of the trunk's gradient norm of each loss; 0 = never."
    )
    decide_forks_per_field: int = Field(0, ge=0, description="Decide forks per schema field and record; 0 = all.")
    record_fork_tokens: int = Field(
        1200, ge=0, description="Fork tokens of a record and draw; 0 = what budget_tokens leaves, at least half of it."
    )
    max_record_parts: int = Field(
        0,
        ge=0,
        description="A record that the memory plan would cut into more parts trains some of its forks; 0 = all.",
    )
    source_min_train: int = Field(
        1, ge=0, description="Training records that a source needs to be drawn from; while none has as many, all are."
    )
    jev_frac: float = Field(
        0.3, ge=0, le=1, description="Share of decision records among those drawn, where there are both kinds."
    )
    filler_frac: float = Field(
        0.0, ge=0, le=1, description="Share of the short records that train inside unrelated text; 0 = none."
    )
    filler_max_tokens: int = Field(
        16384, ge=128, description="Tokens of a record inside unrelated text at most; max_context_tokens holds as well."
    )
    filler_negative_frac: float = Field(
        0.25, ge=0, le=1, description="Share of these whose text is unrelated altogether, so that arrays train empty."
    )
    save_every: int = Field(50, ge=1, description="Steps between checkpoints.")
    val_records: int = Field(
        0, ge=0, description="Validation records of each source whose loss is logged at every save; 0 = none."
    )
    patience: int = Field(
        0,
        ge=0,
        description="Saves without a lower validation loss after which the run ends; the checkpoint with the lowest is "
        "the result. 0 = train all steps, the last one is.",
    )
    nproc: int = Field(1, ge=1, description="Processes; more than one trains with ZeRO-2 under torchrun.")
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="Where to train; auto = CUDA where there is one."
    )
    dtype: Literal["auto", "float32", "bfloat16"] = Field(
        "auto", description="Compute type; auto = bfloat16 where the machine multiplies it fast."
    )
    target_gib: float = Field(6.0, gt=0, description="Memory that the planner keeps a process under.")
    oom_max_redraws: int = Field(3, ge=0, description="Redraws of a step whose smallest part does not fit.")
    seed: int = Field(1, description="Seed of draws and fresh weights.")

    @model_validator(mode="after")
    def _patience_of_something(self) -> TrainSettings:
        if self.patience and not self.val_records:
            raise ValueError("train.patience waits for a lower validation loss; set train.val_records above 0")
        return self


class GeneratorSettings(Settings):
    """A low-rank adapter for the base model that writes generated text."""

    base: str = Field("smollm2-135m", description="Backbone: a name or a local Hugging Face directory.")
    steps: int = Field(400, ge=1, description="Optimizer steps at most.")
    budget_tokens: int = Field(3000, ge=128, description="Context and text tokens of a step and process.")
    lr: float = Field(2e-4, gt=0, description="Peak learning rate.")
    warmup_steps: int = Field(10, ge=0, description="Steps of linear warm-up.")
    lora_rank: int = Field(16, ge=1, description="Rank of the adapter.")
    lora_alpha: float = Field(32.0, gt=0, description="The adapter's scale is alpha / rank.")
    kl_base: float = Field(0.0, ge=0, description="Weight of KL(base || adapted) on the written tokens.")
    save_every: int = Field(25, ge=1, description="Steps between validations.")
    val_records: int = Field(60, ge=1, description="Validation records of each source.")
    patience: int = Field(
        3, ge=0, description="Validations without a lower loss after which training ends; 0 = all steps."
    )
    nproc: int = Field(1, ge=1, description="Processes; more than one trains with ZeRO-2 under torchrun.")
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="Where to train.")
    dtype: Literal["auto", "float32", "bfloat16"] = Field("auto", description="Compute type.")
    target_gib: float = Field(6.0, gt=0, description="Memory that the planner keeps a process under.")
    seed: int = Field(1, description="Seed of draws and fresh weights.")

    def training(self) -> TrainSettings:
        """The run that makes it: the adapter reads the whole sequence, and nothing but its text trains."""
        same = self.model_dump(exclude={"lr", "kl_base"})
        return TrainSettings(
            **same, init="fresh", lora_context="adapter", lr_trunk=self.lr, lr_heads=self.lr, lm_kl_base=self.kl_base
        )


class CalibrateSettings(Settings):
    """One temperature per head kind, by NLL on validation records."""

    max_records: int = Field(80, ge=1, description="Validation records of each source at most.")


GENERATE = Field(
    "model",
    description="Who writes generated text: 'model' (the checkpoint), 'base' (its base as it is), or 'base+lora:FOLDER' (the "
    "base with an adapter of `deg train-generator`).",
)


class EvaluateSettings(Settings):
    """Our fill and the constrained-decoding baseline on the same documents."""

    splits: tuple[Literal["train", "val", "test"], ...] = Field(("val", "test"), description="Splits evaluated.")
    max_records: int = Field(60, ge=1, description="Records of each split and source at most (a seeded sample).")
    baseline_records: int = Field(
        24, ge=0, description="Of these, how many of each split and source the baseline also answers; 0 = none."
    )
    baseline: str = Field(
        "",
        description="Model of the baseline: a name or a local Hugging Face directory; empty = the checkpoint's base.",
    )
    baseline_max_tokens: int = Field(400, ge=16, description="Token cap of one baseline answer.")
    determinism_records: int = Field(4, ge=0, description="Records on which bitwise equality is checked.")
    workers: int = Field(0, ge=0, description="Processes, each pinned to one core; 0 = one per core.")
    dtype: ComputeType = Field(
        "auto",
        description="Compute type of our fill; auto: int8 on a CPU that has it, else as in training. The baseline takes the "
        "faster of float32 and bfloat16.",
    )
    seed: int = Field(1, description="Seed of the sample.")
    generate: str = GENERATE
    options: FillOptions = Field(FillOptions(), description="Options of every fill, e.g. the date order.")


class GateSettings(Settings):
    """When a new checkpoint becomes champion."""

    metrics: tuple[str, ...] = Field(
        ("decide_accuracy", "extract_exact", "count_accuracy"), description="Figures that must not fall."
    )
    tolerance: float = Field(0.01, ge=0, description="Fall of a metric that is still no fall.")
    max_ece: float = Field(0.25, gt=0, le=1, description="Calibration error of decided fields at most.")


class FillSettings(Settings):
    """Bulk fill of a corpus to Parquet."""

    corpus: str = Field(
        "own", min_length=1, description="JSON Lines, Parquet or CSV file, a folder of text files, or 'own'."
    )
    schema_path: str = Field(
        "own", min_length=1, description="JSON Schema file, or 'own' for the schema of the generated corpus."
    )
    text_column: str = Field("text", min_length=1, description="Column or key that holds the document.")
    id_column: str = Field("doc_id", description="Column or key that holds its id; row numbers where it is absent.")
    model: str = Field("champion", min_length=1, description="Checkpoint folder, or 'champion'.")
    dtype: ComputeType = Field(
        "auto", description="Compute type; auto: int8 on a CPU that has it, else as in training."
    )
    generate: str = GENERATE
    shard_documents: int = Field(64, ge=1, description="Documents of one Parquet part.")
    batch_documents: int = Field(8, ge=1, description="Documents filled together.")
    workers: int = Field(0, ge=0, description="Processes; 0 = one per core.")
    max_failed_share: float = Field(
        0.5, ge=0, le=1, description="Stop when more than this share of the documents cannot be filled."
    )
    options: FillOptions = Field(FillOptions(), description="Options of every fill.")


class NightlySettings(Settings):
    """The whole chain."""

    data: DataSettings = DataSettings()
    pools: PoolSettings = PoolSettings()
    memory: MemorySettings = MemorySettings()
    train: TrainSettings = TrainSettings()
    calibrate: CalibrateSettings = CalibrateSettings()
    evaluate: EvaluateSettings = EvaluateSettings()
    gate: GateSettings = GateSettings()
    fill: FillSettings = FillSettings()

    @field_validator("train")
    @classmethod
    def _checkpoint_cadence(cls, value: TrainSettings) -> TrainSettings:
        if value.warmup_steps > value.steps:
            raise ValueError("train.warmup_steps is larger than train.steps; lower it")
        return value

    @model_validator(mode="after")
    def _one_base(self) -> NightlySettings:
        bases = {"pools": self.pools.base, "memory": self.memory.base, "train": self.train.base}
        if len(set(bases.values())) > 1:
            named = ", ".join(f"{step}.base is {base!r}" for step, base in bases.items())
            raise ValueError(f"{named}; a night has one base: set all three alike")
        return self
