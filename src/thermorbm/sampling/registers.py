"""A Numba type for one wide register: eight 64-bit words, 512 replicas of one spin.

Numba has scalars and arrays; whether LLVM turns a loop over eight words into one vector instruction is its
guess, and for our kernels it guesses wrong (3 instead of 17 spin updates per nanosecond). Here a register is
a value like any other, with the operators & | ^ ~ +, and LLVM only has to choose the widest instructions that
the processor has: one AVX-512 register, two of AVX2, four of SSE or NEON.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

WORDS = 8
REPLICAS = 64 * WORDS

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, WORDS)
_WHOLE = ir.IntType(REPLICAS)


class Register(types.Type):  # type: ignore[misc]
    """Numba's name for the register type."""

    def __init__(self) -> None:
        super().__init__(name="thermorbm.Register")


REGISTER = Register()


@register_model(Register)
class _RegisterModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, front_end_type: Any) -> None:
        super().__init__(manager, front_end_type, _VECTOR)


def _row_pointer(context: Any, builder: Any, array_type: Any, array: Any, row: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    word = builder.gep(data, [builder.mul(row, ir.Constant(_WORD, WORDS))])
    return builder.bitcast(word, _VECTOR.as_pointer())


@intrinsic
def load(typing_context: Any, array: Any, row: Any) -> Any:
    """load(array, row): that row of a C-contiguous uint64 array (n, WORDS)."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_row_pointer(context, builder, signature.args[0], *arguments), align=8)

    return REGISTER(array, types.int64), emit


@intrinsic
def store(typing_context: Any, array: Any, row: Any, value: Any) -> Any:
    """store(array, row, register): writes that row of a C-contiguous uint64 array (n, WORDS)."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(
            arguments[2], _row_pointer(context, builder, signature.args[0], *arguments[:2]), align=8
        )
        return context.get_dummy_value()

    return types.void(array, types.int64, REGISTER), emit


@intrinsic
def fill(typing_context: Any, word: Any) -> Any:
    """fill(word): a register with the same 64-bit word in every place."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(undefined, arguments[0], ir.Constant(ir.IntType(32), 0))
        places = ir.Constant(ir.VectorType(ir.IntType(32), WORDS), [0] * WORDS)
        return builder.shuffle_vector(first, undefined, places)

    return REGISTER(types.uint64), emit


@intrinsic
def any_bit(typing_context: Any, register: Any) -> Any:
    """any_bit(register): whether any of its bits is set."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.icmp_unsigned("!=", builder.bitcast(arguments[0], _WHOLE), ir.Constant(_WHOLE, 0))

    return types.boolean(REGISTER), emit


@intrinsic
def _complement(typing_context: Any, register: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.not_(arguments[0])

    return REGISTER(REGISTER), emit


@overload(operator.invert, strict=False)
def _invert(register: Any) -> Callable[..., Any] | None:
    return (lambda register: _complement(register)) if isinstance(register, Register) else None


def _define_binary(python_operator: Callable[..., Any], instruction: str) -> None:
    @intrinsic
    def apply(typing_context: Any, left: Any, right: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, instruction)(*arguments)

        return REGISTER(REGISTER, REGISTER), emit

    @overload(python_operator, strict=False)
    def choose(left: Any, right: Any) -> Callable[..., Any] | None:
        both = isinstance(left, Register) and isinstance(right, Register)
        return (lambda left, right: apply(left, right)) if both else None


for _operator, _instruction in (
    (operator.and_, "and_"),
    (operator.or_, "or_"),
    (operator.xor, "xor"),
    (operator.add, "add"),
):
    _define_binary(_operator, _instruction)
