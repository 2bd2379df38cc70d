"""Where and in which precision to train."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from thermorbm.checks import whole_number
from thermorbm.errors import InputError

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "int8": torch.int8}
MOST_THREADS = 1024  # torch crashes where the system does not give it as many as it asks for


def choose_device(name: str) -> torch.device:
    """ "auto" takes CUDA when it is there, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.Generator(device)
    except (RuntimeError, AssertionError) as error:
        raise InputError("device", name, "'auto', 'cpu' or a device that torch has here") from error
    return device


def choose_precision(name: str, device: torch.device) -> torch.dtype:
    """Type of the matrix products. "auto" takes bf16 where the hardware multiplies it faster, else fp32."""
    if name == "auto":
        return torch.bfloat16 if _has_bf16(device) else torch.float32
    if name not in PRECISIONS:
        raise InputError("precision", name, f"one of auto, {', '.join(PRECISIONS)}")
    if name == "int8" and device.type != "cpu":
        raise InputError("precision", name, "bf16 or fp32 on this device", "or train with device='cpu'")
    return PRECISIONS[name]


def _has_bf16(device: torch.device) -> bool:
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


@contextmanager
def torch_threads(threads: int | None) -> Iterator[None]:
    """Inside, torch computes with that many threads; None means one.

    One is the same on every computer, and does not wait for a thread that others keep from its core.
    """
    number = 1 if threads is None else whole_number("threads", threads, 1, MOST_THREADS)
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
