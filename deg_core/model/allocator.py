"""What this process holds on to: large tensors' places on the heap, and kernels.

glibc gives every block over a moving threshold its own mapping and returns it at once, so each large
intermediate tensor is page-faulted anew: seen to make norms and activations 3 to 8 times slower on a CPU.
"""

from __future__ import annotations

import ctypes
import os
import sys

M_TRIM_THRESHOLD = -1
M_TOP_PAD = -2
M_MMAP_THRESHOLD = -3
HEAP_BLOCK_BYTES = 1 << 30
KEEP_BYTES = (1 << 31) - 1
TOP_PAD_BYTES = 64 << 20
KERNEL_CACHES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
TRAINING_KERNELS = 512


def keep_heap() -> bool:
    """Tell glibc to serve blocks up to 1 GiB from the heap and keep them; False where there is no glibc."""
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallopt"):
        return False
    settings = ((M_MMAP_THRESHOLD, HEAP_BLOCK_BYTES), (M_TRIM_THRESHOLD, KEEP_BYTES), (M_TOP_PAD, TOP_PAD_BYTES))
    return all(libc.mallopt(name, value) == 1 for name, value in settings)


def release_heap() -> None:
    """Give free heap pages back to the system (before measuring a peak, or after running out of memory)."""
    if sys.platform.startswith("linux"):
        libc = ctypes.CDLL(None)
        if hasattr(libc, "malloc_trim"):
            libc.malloc_trim(0)


def limit_kernels(most: int = TRAINING_KERNELS) -> None:
    """Let oneDNN and torch's layer above it keep so many kernels each; to be called before the first product.

    They keep one for every size that they meet, some 0.4 MiB, up to 1,024 each. A step of training brings new sizes
    only, and 1,024 of each were seen to hold 0.75 GiB; the most that one layer needs in turn is a few hundred. What the
    environment says goes before.
    """
    for name in KERNEL_CACHES:
        os.environ.setdefault(name, str(most))
