"""Every launch compiles for CUDA on a machine without it, and fits the smallest GPU that it is meant for."""

import os
import re
import subprocess
from types import SimpleNamespace

import pytest
import torch

if os.environ.get("TRITON_INTERPRET") == "1":
    pytest.skip("Triton's interpreter does not compile", allow_module_level=True)
triton = pytest.importorskip("triton", reason="Triton cannot be imported; it has wheels for Linux only")

from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402
from triton.runtime.jit import JITFunction  # noqa: E402

from deg_core.kernels.fork_attention import fork_attention  # noqa: E402
from deg_core.kernels.fork_delta import fork_delta  # noqa: E402
from deg_core.kernels.gemm import linear  # noqa: E402
from deg_core.kernels.norm import rms_norm  # noqa: E402
from deg_core.kernels.split_gemm import small_linear  # noqa: E402
from deg_core.kernels.table import RowTable  # noqa: E402

TYPES = {torch.bfloat16: "*bf16", torch.float32: "*fp32", torch.int64: "*i64"}
# shared memory of a program on sm_89 (L4), less than on sm_80 and sm_90
SHARED_BYTES = 99 * 1024
# what ptxas keeps on the stack for a call or two; a tile that does not fit the registers takes a kilobyte
STACK_BYTES = 64
# H, G, D of Qwen3.5-0.8B, LFM2.5-1.2B and SmolLM2-135M
HEADS = [(8, 2, 256), (32, 8, 64), (9, 3, 64)]
TENSOR_CORES = re.compile(r"(mma\.sync|wgmma\.mma_async)\S*\.bf16")


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """A function that calls its argument and returns what was compiled instead of launched; nothing runs."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    found = []

    def call(capability, function, *args):
        found.clear()
        monkeypatch.setattr(JITFunction, "run", lambda kernel, *a, **k: found.append(build(kernel, capability, a, k)))
        function(*args)
        return list(found)

    return call


def build(kernel, capability, args, options):
    """Compile a launch as Triton would on a device: same types, same specialisation."""
    values = dict(zip(kernel.arg_names, args, strict=False)) | options
    signature, constants, hints = {}, {}, {}
    for place, parameter in enumerate(kernel.params):
        value, fixed = values[parameter.name], parameter.do_not_specialize
        if parameter.is_constexpr or (isinstance(value, int) and value == 1 and not fixed):
            signature[parameter.name], constants[(place,)] = "constexpr", value
        elif isinstance(value, torch.Tensor):
            signature[parameter.name] = TYPES[value.dtype]
            hints[(place,)] = [["tt.divisibility", 16]]
        else:
            signature[parameter.name] = "fp32" if isinstance(value, float) else "i32"
            if isinstance(value, int) and value % 16 == 0 and not fixed:
                hints[(place,)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, signature, constants, hints)
    chosen = {name: options[name] for name in ("num_warps", "num_stages") if name in options}
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=chosen)


def stack_bytes(kernel, folder):
    """The stack that a program takes: registers that did not fit."""
    path = folder / "kernel.cubin"
    path.write_bytes(kernel.asm["cubin"])
    tool = triton.knobs.nvidia.cuobjdump.path
    report = subprocess.run([tool, "-res-usage", path], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"STACK:(\d+)", report)[1])


def launches(dtype, models=HEADS[:1]):
    """Functions that launch every kernel at the sizes of real models, by name."""
    x, weight = torch.empty(100, 1024, dtype=dtype), torch.empty(6144, 1024, dtype=dtype)
    rows = SimpleNamespace(starts=[0, 50], lengths=[50, 50], prefixes=[0, -1])

    def attend(heads, groups, width):
        q, k = (torch.empty(100, n, width, dtype=dtype) for n in (heads, groups))
        fork_attention(q, k, k, table(torch.empty(groups, 7, width, dtype=dtype)), 0)

    def table(state):
        return RowTable.of(rows.starts, rows.lengths, rows.prefixes, [(7, [(state, state)])], state.device)

    def walk():
        q, beta = torch.empty(100, 16, 128), torch.empty(100, 16)
        around = table(torch.empty(16, 128, 128))
        fork_delta(q, q, q, beta, beta, around.rows, around.prefix(0), torch.empty_like(q))

    yield "linear", lambda: linear(x, weight)
    yield "small_linear", lambda: small_linear(x, weight)
    yield "rms_norm", lambda: rms_norm(x, weight[0], 1e-6)
    yield "gated_rms_norm", lambda: rms_norm(x.view(-1, 128), weight[0, :128], 1e-6, gate=x)
    for heads in models:
        yield f"fork_attention {heads}", lambda heads=heads: attend(*heads)
    if dtype == torch.float32:
        yield "fork_delta", walk


@pytest.mark.parametrize(
    ("capability", "dtype"),
    [(80, torch.bfloat16), (89, torch.bfloat16), (90, torch.bfloat16), (89, torch.float32)],
    ids=str,
)
def test_every_launch_compiles_and_fits(compiled, capability, dtype, tmp_path):
    for name, launch in launches(dtype, HEADS if capability == 89 and dtype == torch.bfloat16 else HEADS[:1]):
        built = compiled(capability, launch)
        assert built, name
        for kernel in built:
            assert kernel.metadata.shared <= SHARED_BYTES, name
            assert stack_bytes(kernel, tmp_path) <= STACK_BYTES, name
        if dtype == torch.bfloat16 and "norm" not in name:
            assert TENSOR_CORES.search(built[0].asm["ptx"]), name


@pytest.mark.parametrize("capability", [80, 90])
def test_prefixes_are_read_in_wide_pieces(compiled, capability):
    """Keys and values come through asynchronous copies of 16 bytes, those behind an address in a table too."""
    launch = dict(launches(torch.bfloat16))[f"fork_attention {HEADS[0]}"]
    (kernel,) = compiled(capability, launch)
    assert "cp.async.cg.shared.global" in kernel.asm["ptx"]
    assert not re.search(r"ld\.global\S*\.b16", kernel.asm["ptx"])


def test_the_number_of_rows_does_not_choose_the_code(compiled):
    weight = torch.empty(6144, 1024, dtype=torch.bfloat16)
    for function, operand in ((linear, weight), (small_linear, weight), (rms_norm, weight[0])):
        codes = {
            tuple(kernel.asm["ptx"] for kernel in compiled(90, function, weight.new_empty(rows, 1024), operand, *eps))
            for rows in (1, 16, 100)
            for eps in ([(1e-6,)] if function is rms_norm else [()])
        }
        assert len(codes) == 1
