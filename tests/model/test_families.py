"""Every family against transformers, and packed rows, forks and decoding against the plain reading."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from deg_core.contract.errors import InputError
from deg_core.model.backbone import VIEW_EPS, Backbone
from deg_core.model.families import family_of
from deg_core.model.families.qwen35 import Qwen35
from deg_core.model.heads import VIEW_DEPTHS, VIEWS
from deg_core.model.projection import DECODE_TILE, TILE, PackedProjector, Projector, pack
from deg_core.model.rows import GROUP_TOKENS, SCAN_TOKENS, Rows, together
from tests.model import tiny
from tests.model.tiny import GRADIENT_TOLERANCE, ORDER_TOLERANCE, REFERENCE_TOLERANCE, random_ids, relative_error


@pytest.fixture(scope="module")
def backbone(base):
    return Backbone.load(base)


@pytest.fixture(params=["grouped", "tiles", "packed"])
def project(backbone, request):
    """The projections of training and of inference; exact ones have no gradient."""
    if request.param == "packed":
        return PackedProjector(backbone.weights, pack(backbone.weights, backbone.family.targets()))
    return Projector(backbone.weights, tile=TILE if request.param == "tiles" else 0)


def read(backbone, ids, project, prefix=None):
    rows = Rows([len(ids)], [0] if prefix else None, [prefix] if prefix else ())
    hidden, (state,) = backbone.forward(ids, rows, project, keep=True)
    return hidden, state


@pytest.mark.parametrize("length", [1, 3, 63, 64, 200])
def test_hidden_states_are_those_of_transformers(reference, backbone, project, length):
    ids = random_ids(length)
    with torch.no_grad():
        expected = reference.model(input_ids=ids[None]).last_hidden_state[0]
        found, _ = read(backbone, ids, project)
    assert relative_error(found, expected) < REFERENCE_TOLERANCE


@pytest.mark.parametrize("length", [1, 70])
def test_views_are_the_normed_states_between_the_layers(reference, backbone, project, length):
    ids, layers = random_ids(length), backbone.shape.layers
    with torch.no_grad():
        between = reference.model(input_ids=ids[None], output_hidden_states=True).hidden_states
        last, _ = read(backbone, ids, project)
        found, _ = backbone.forward(ids, Rows([length]), project, views=VIEW_DEPTHS)
    parts = found.split(backbone.shape.hidden, dim=1)
    assert len(parts) == VIEWS and torch.equal(parts[0], last)
    for depth, part in zip(VIEW_DEPTHS, parts[1:], strict=True):
        state = between[round(depth * layers)][0]
        expected = state * (state.square().mean(-1, keepdim=True) + VIEW_EPS).rsqrt()
        assert relative_error(part, expected) < REFERENCE_TOLERANCE


def test_logits_are_those_of_transformers(reference, base):
    network = tiny.fresh_network(base)
    ids = random_ids(20)
    with torch.no_grad():
        hidden, _ = network.backbone.forward(ids, Rows([20]))
        assert relative_error(network.lm_logits(hidden), reference(input_ids=ids[None]).logits[0]) < REFERENCE_TOLERANCE


def test_gradients_are_those_of_transformers(reference, base):
    """The loss weighs every hidden state; a weight of ours holds one or several of the reference's."""
    ids, backbone = random_ids(70), Backbone.load(base)
    names = [name for name in backbone.weights if name not in ("embed", "lm_head")]
    for name in names:
        backbone.weights[name].requires_grad_(True)
    probe = torch.randn(70, backbone.shape.hidden, generator=torch.Generator().manual_seed(1))
    hidden, _ = backbone.forward(ids, Rows([70]))
    found = dict(
        zip(names, torch.autograd.grad((hidden * probe).sum(), [backbone.weights[n] for n in names]), strict=True)
    )

    reference.zero_grad()
    (reference.model(input_ids=ids[None]).last_hidden_state[0] * probe).sum().backward()
    gradients = {name: parameter.grad for name, parameter in reference.named_parameters() if parameter.grad is not None}
    gradients.setdefault("lm_head.weight", torch.zeros_like(reference.lm_head.weight))
    reference.zero_grad()
    expected = backbone.family.load(gradients)
    assert len(names) > 10
    for name in names:
        assert relative_error(found[name], expected[name]) < GRADIENT_TOLERANCE, name


def test_packed_rows_equal_rows_alone(backbone, project):
    lengths = [5, 70, 1, 33]
    ids = random_ids(sum(lengths))
    with torch.no_grad():
        packed, states = backbone.forward(ids, Rows(lengths), project, keep=True)
        for part, own, state in zip(ids.split(lengths), packed.split(lengths), states, strict=True):
            alone, alone_state = read(backbone, part, project)
            assert relative_error(own, alone) < ORDER_TOLERANCE
            for mine, his in zip(state.layers, alone_state.layers, strict=True):
                assert all(relative_error(a, b) < ORDER_TOLERANCE for a, b in zip(mine, his, strict=True))


@pytest.mark.parametrize("context", [1, 2, 64, 150])
def test_a_fork_reads_its_context_and_its_own_query(backbone, project, context):
    trunks = [random_ids(context, seed) for seed in (1, 2)]
    queries = [random_ids(length, length) for length in (1, 2, 40, 66, 200, GROUP_TOKENS + 9, 5)]
    with torch.no_grad():
        states = [read(backbone, trunk, project)[1] for trunk in trunks]
        prefixes = [0, 0, 1, 0, 0, 0, 0]
        rows = Rows([len(query) for query in queries], prefixes, states)
        forks, _ = backbone.forward(torch.cat(queries), rows, project)
        for query, prefix, fork in zip(queries, prefixes, forks.split(list(rows.lengths)), strict=True):
            whole, _ = read(backbone, torch.cat((trunks[prefix], query)), project)
            assert relative_error(fork, whole[context:]) < ORDER_TOLERANCE


def test_rows_that_attend_together_are_few_tokens_or_one_row():
    lengths = [3, 100, 100, 60, 300, 1, 255, 1, 256, 4]
    runs = together(lengths)
    assert runs == [(0, 3), (3, 4), (4, 5), (5, 7), (7, 8), (8, 9), (9, 10)]
    assert together([]) == []


def test_reading_forks_leaves_the_prefix_as_it_was(backbone, project):
    with torch.no_grad():
        _, state = read(backbone, random_ids(30), project)
        before = [[tensor.clone() for tensor in layer] for layer in state.layers]
        read(backbone, random_ids(10), project, state)
    for layer, copies in zip(state.layers, before, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(layer, copies, strict=True))


def test_decoding_token_by_token_equals_prefill(backbone):
    ids = random_ids(40)
    step = Projector(backbone.weights, tile=DECODE_TILE)
    with torch.no_grad():
        whole, _ = read(backbone, ids, Projector(backbone.weights, tile=TILE))
        _, state = read(backbone, ids[:20], Projector(backbone.weights, tile=TILE))
        for place in range(20, 40):
            hidden, state = read(backbone, ids[place : place + 1], step, state)
            assert relative_error(hidden[0], whole[place]) < ORDER_TOLERANCE
    assert state.length == 40


def test_a_context_longer_than_a_scan_reads_like_a_whole(backbone):
    """Exact reading cuts a long row; grouped reading does not."""
    ids = random_ids(SCAN_TOKENS + 70)
    with torch.no_grad():
        exact, _ = read(backbone, ids, Projector(backbone.weights, tile=TILE))
        whole, _ = read(backbone, ids, Projector(backbone.weights))
    assert relative_error(exact, whole) < ORDER_TOLERANCE


def fork_loss(backbone, project, trunk, queries, in_one):
    """A loss over forks of one context, read in one batch or one after the other."""
    _, state = read(backbone, trunk, project)
    batches = [queries] if in_one else [[query] for query in reversed(queries)]
    loss = torch.zeros(())
    for batch in batches:
        rows = Rows([len(query) for query in batch], [0] * len(batch), [state])
        hidden, _ = backbone.forward(torch.cat(batch), rows, project)
        loss = loss + sum(part[-1].sin().sum() for part in hidden.split(list(rows.lengths)))
    return loss


@pytest.mark.parametrize("rank", [0, 4])
def test_gradients_reach_the_trunk_and_do_not_depend_on_packing(base, rank):
    backbone = Backbone.load(base)
    pairs = tiny.adapters(backbone, rank) if rank else {}
    leaves = {f"{name}.{i}": half for name, pair in pairs.items() for i, half in enumerate(pair)}
    leaves = leaves or {name: w for name, w in backbone.weights.items() if name not in ("embed", "lm_head")}
    for leaf in leaves.values():
        leaf.requires_grad_(True)
    project = Projector(backbone.weights, pairs, 2.0)
    trunk, queries = random_ids(80), [random_ids(n, n) for n in (3, 70, 1, 20, 190, 7)]
    assert sum(map(len, queries)) > GROUP_TOKENS
    packed, alone = (
        torch.autograd.grad(fork_loss(backbone, project, trunk, queries, in_one), list(leaves.values()))
        for in_one in (True, False)
    )
    for name, one, other in zip(leaves, packed, alone, strict=True):
        assert one.isfinite().all() and one.abs().max() > 0, name
        assert relative_error(one, other) < GRADIENT_TOLERANCE, name


def test_merged_adapters_compute_what_adapters_compute(base):
    network, ids = tiny.fresh_network(base, rank=4), random_ids(50)
    with torch.no_grad():
        merged, _ = network.backbone.forward(ids, Rows([50]), network.projector(context=True, exact=True))
        beside, _ = network.backbone.forward(ids, Rows([50]), network.projector(context=True, exact=False))
        plain, _ = network.backbone.forward(ids, Rows([50]))
    assert relative_error(merged, beside) < ORDER_TOLERANCE
    assert relative_error(plain, beside) > 100 * ORDER_TOLERANCE


def test_targets_name_projections_of_their_sizes(backbone):
    targets = backbone.family.targets()
    assert {
        name: (weight.shape[1], weight.shape[0]) for name, weight in backbone.weights.items() if name in targets
    } == targets
    matrices = [n for n, w in backbone.weights.items() if w.ndim == 2 and n not in ("embed", "lm_head")]
    assert {name for name in matrices if not name.endswith(".conv")} == set(targets)


def test_ids_that_do_not_fit_the_rows_are_refused(backbone):
    with pytest.raises(ValueError, match="3 ids for rows of 4 tokens"):
        backbone.forward(random_ids(3), Rows([4]))
    with pytest.raises(ValueError, match="at least one token"):
        Rows([3, 0])
    with pytest.raises(ValueError, match="prefixes"):
        Rows([3], [0])


@pytest.fixture(scope="module")
def qwen_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("qwen")
    tiny.qwen_model().save_pretrained(folder)
    return folder


def test_the_multimodal_model_holds_the_text_model(qwen_folder, tmp_path):
    config = json.loads((qwen_folder / "config.json").read_text())
    wrapper = {"model_type": "qwen3_5", "text_config": config, "tie_word_embeddings": True, "vision_config": {}}
    (tmp_path / "config.json").write_text(json.dumps(wrapper))
    tensors = load_file(qwen_folder / "model.safetensors")
    renamed = {name.replace("model.", "model.language_model.", 1): tensor for name, tensor in tensors.items()}
    extra = {"model.visual.patch_embed.proj.weight": torch.ones(2), "mtp.fc.weight": torch.ones(2)}
    save_file(renamed | extra, tmp_path / "model.safetensors")
    one, other = Backbone.load(qwen_folder), Backbone.load(tmp_path)
    assert one.weights.keys() == other.weights.keys()
    assert all(torch.equal(one.weights[name], other.weights[name]) for name in one.weights)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attention_bias": True}, "biases"),
        ({"attn_output_gate": False}, "output gate"),
        ({"hidden_act": "gelu"}, "'gelu'"),
        ({"layer_types": ["linear_attention"]}, "layer_types"),
        ({"layer_types": ["linear_attention"] * 3 + ["sliding_attention"]}, "layer_types"),
        ({"rope_parameters": {"rope_type": "yarn"}}, "'yarn'"),
        ({"linear_num_value_heads": 3}, "multiple"),
    ],
)
def test_what_the_qwen_family_cannot_compute_is_refused(qwen_folder, change, message):
    config = json.loads((qwen_folder / "config.json").read_text())
    with pytest.raises(InputError, match=message):
        Qwen35(config | change)


def test_layer_kinds_come_from_the_interval_where_none_are_listed(qwen_folder):
    config = json.loads((qwen_folder / "config.json").read_text())
    del config["layer_types"]
    assert Qwen35(config).kinds == ("linear_attention",) * 3 + ("full_attention",)


def test_an_unknown_family_names_the_near_one():
    with pytest.raises(InputError, match=r"did you mean 'llama'"):
        family_of({"model_type": "lama"})


def test_a_missing_tensor_is_named(qwen_folder, tmp_path):
    (tmp_path / "config.json").write_text((qwen_folder / "config.json").read_text())
    tensors = load_file(qwen_folder / "model.safetensors")
    del tensors["model.layers.1.linear_attn.A_log"]
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match=r"layers\.1\.linear_attn\.A_log"):
        Backbone.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("config.json", b"{", "config.json cannot be read"),
        ("config.json", b"\xff", "config.json cannot be read"),
        ("config.json", b'{"model_type": "llama"}', "lacks the setting 'num_attention_heads'"),
        ("model.safetensors", b"", "model.safetensors is damaged"),
        ("model.safetensors", b"\x10\0\0\0\0\0\0\0{}", "model.safetensors is damaged"),
    ],
)
def test_a_damaged_base_is_an_input_error(qwen_folder, tmp_path, name, data, message):
    for file in ("config.json", "model.safetensors"):
        (tmp_path / file).write_bytes((qwen_folder / file).read_bytes())
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        Backbone.load(tmp_path)
