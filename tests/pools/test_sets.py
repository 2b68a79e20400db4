"""Sources from a manifest: their weights, and what may never be one."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from deg_core.config import NightlySettings, PoolSettings, SourceSettings
from deg_core.contract.errors import InputError
from deg_core.pools.build import build_pools
from deg_core.pools.sets import all_sources
from deg_core.progress import Silent

from .conftest import make_record, to_lines

SETS = [
    {"path": "a/one.jsonl", "group": "forms", "proposed_weight": 0.5},
    {"path": "a/two.jsonl", "group": "forms", "proposed_weight": 2},
    {"path": "three.jsonl", "group": "chat", "note": "other keys are notes"},
]


@pytest.fixture
def manifest(tmp_path):
    """Writes a manifest and returns its path as text."""

    def write(sets=SETS, **keys) -> str:
        path = tmp_path / "sets" / "manifest.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"sets": sets} | keys))
        return str(path)

    return write


def weights(settings: PoolSettings) -> dict[str, float]:
    return {source.records.rpartition("sets/")[2]: source.weight for source in all_sources(settings)}


def test_sets_are_sources_beside_the_manifest(manifest, tmp_path):
    found = all_sources(PoolSettings(manifest=manifest()))
    assert found[0].records == str(tmp_path / "sets" / "a" / "one.jsonl")
    assert [source.weight for source in found] == [0.5, 2.0, 1.0]


def test_groups_are_rescaled_or_left_out(manifest):
    groups = [{"group": "forms", "factor": 0.5}, {"group": "chat", "factor": 0}]
    assert weights(PoolSettings(manifest=manifest(), groups=groups)) == {"a/one.jsonl": 0.25, "a/two.jsonl": 1.0}


def test_own_sources_are_added_only_when_they_are_named(manifest):
    assert weights(PoolSettings(manifest=manifest(), sources=[SourceSettings(records="own")]))["own"] == 1
    assert "own" not in weights(PoolSettings(manifest=manifest()))
    assert weights(PoolSettings()) == {"own": 1.0}
    nightly = NightlySettings(pools={"manifest": manifest()})
    again = NightlySettings.model_validate_json(nightly.model_dump_json())
    assert again == nightly and len(weights(again.pools)) == 3


@pytest.mark.parametrize(
    ("pattern", "stops"),
    [("two.jsonl", True), ("a/", True), ("*/a/t*", True), ("held_*", False), ("T*WO", False), ("own", False)],
)
def test_a_set_that_may_never_train_stops_the_run(manifest, pattern, stops):
    settings = PoolSettings(manifest=manifest(eval_only_never_train=["elsewhere", pattern]))
    if not stops:
        assert len(all_sources(settings)) == 3
        return
    with pytest.raises(InputError, match="never trains: .* in eval_only_never_train"):
        all_sources(settings)


def test_leaving_its_group_out_does_not_make_a_forbidden_set_right(manifest):
    groups = [{"group": "chat", "factor": 0}]
    with pytest.raises(InputError, match=r"three\.jsonl never trains"):
        all_sources(PoolSettings(manifest=manifest(eval_only_never_train=["three"]), groups=groups))


def test_own_sources_and_links_are_held_against_the_patterns(manifest, tmp_path):
    path = manifest(eval_only_never_train=["bench-*"])
    (tmp_path / "bench-1.jsonl").write_text("")
    (tmp_path / "sets" / "three.jsonl").symlink_to(tmp_path / "bench-1.jsonl")
    with pytest.raises(InputError, match=r"three\.jsonl never trains"):
        all_sources(PoolSettings(manifest=path))
    (tmp_path / "sets" / "three.jsonl").unlink()
    sources = [SourceSettings(records=str(tmp_path / "bench-1.jsonl"))]
    with pytest.raises(InputError, match=r"bench-1\.jsonl never trains"):
        all_sources(PoolSettings(manifest=path, sources=sources))


@pytest.mark.parametrize(
    ("sets", "groups", "told"),
    [
        ([{"group": "x"}], [], "sets.0.path: Field required"),
        ([{"path": "a", "proposed_weight": -1}], [], "sets.0.proposed_weight: Input should be greater"),
        ("a", [], "sets: Input should be a valid list"),
        (SETS, [{"group": "form", "factor": 1}], "has no group form; did you mean forms?"),
        (SETS, [{"group": "zzz", "factor": 1}], "has no group zzz; there are chat, forms"),
        ([*SETS, {"path": "a/../three.jsonl"}], [], "three.jsonl is listed more than once"),
        ([{"path": "a", "proposed_weight": 0}], [], "no set has a weight above 0"),
    ],
)
def test_a_manifest_that_cannot_be_used(manifest, sets, groups, told):
    with pytest.raises(InputError) as caught:
        all_sources(PoolSettings(manifest=manifest(sets), groups=groups))
    assert told in str(caught.value) and "manifest.json" in str(caught.value)


def test_settings_that_name_no_source():
    with pytest.raises(ValidationError, match="name one or the other"):
        PoolSettings(sources=[])
    with pytest.raises(ValidationError, match="name the manifest"):
        PoolSettings(groups=[{"group": "a", "factor": 1}])


def test_pools_of_a_manifest(manifest, base, home, tmp_path):
    path = manifest([{"path": "three.jsonl", "proposed_weight": 0.25}])
    records = tmp_path / "sets" / "three.jsonl"
    records.write_bytes(to_lines([make_record(number) for number in range(3)]))
    (pool,) = build_pools(PoolSettings(manifest=path, base=str(base)), home, Silent())
    assert pool.counts["kept"] == 3 and pool.settings["weight"] == 0.25
    with pytest.raises(InputError, match="never trains"):
        build_pools(PoolSettings(manifest=manifest(eval_only_never_train=["sets/"]), base=str(base)), home, Silent())
