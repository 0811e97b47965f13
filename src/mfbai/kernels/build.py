"""Builds parts: a kernel, compiled for the layouts of its arguments, as object code with a plain C interface.

A part is `int32 f(int64 *result, void **error, int64 *table)`. The table holds the arguments (`records`); the result is
never read. Nothing in the object depends on numba, Python or numpy: it asks for functions of the C library alone.

This is the only module that imports numba, and with it the compiler.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.callconv import CPUCallConv
from numba.core.codegen import CPUCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, models, overload, register_model, typeof_impl
from numba.np.arrayobj import populate_array

from mfbai.kernels import link, random
from mfbai.kernels.jit import UNKNOWN, Generic, Kernel
from mfbai.kernels.machine import Target
from mfbai.kernels.records import ENTRY, HEAD, RESULTS, Built, Layout, is_scalar, n_words, spell

WORD = ir.IntType(64)
WORDS = WORD.as_pointer()
TABLE = types.CPointer(types.int64)
ELEMENTS = {"f8": types.float64, "i8": types.int64, "b1": types.boolean, "u8": types.uint64}
NUMBERS = {"float": types.float64, "int": types.int64, "bool": types.boolean}
FLAGS = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
GENERATOR = types.NumPyRandomGeneratorType("NumPyRandomGeneratorType")


# --- kernels and generic functions, as numba sees them


@typeof_impl.register(Kernel)
def _type_of_kernel(value: Kernel, context: Any) -> Any:
    return types.Dispatcher(_dispatcher(value))


def _dispatcher(value: Kernel) -> Any:
    if value.numba is None:
        value.numba = numba.njit(forceinline=value.inline, _nrt=value.memory, **FLAGS)(value.py_func)
    return value.numba


def _introduce(function: Generic) -> None:
    """Tell numba what a generic function does."""

    @overload(function, strict=False)
    def resolve(*args: Any) -> Any:
        found = function.of(getattr(args[function.position], "instance_class", object))
        return getattr(found, "py_func", found)


# --- words to arguments


class RecordType(types.Type):  # type: ignore[misc]
    """A record of a known layout: to compiled code, the address of its words. So it is passed as one number, and only
    what is used of it is read."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.instance_class = layout, layout[0]
        digest = hashlib.sha256(json.dumps(spell(layout)).encode()).hexdigest()
        super().__init__(f"{self.instance_class.__name__}.{digest[:12]}")

    @property
    def key(self) -> Any:
        return self.instance_class, self.layout

    def place_of(self, field: str) -> tuple[int, Layout]:
        """The number of the first word of a field, and its layout."""
        n = 1 + self.instance_class._fields.index(field)
        return sum(map(n_words, self.layout[1:n])), self.layout[n]


@register_model(RecordType)
class _RecordModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, WORDS)


@infer_getattr
class _RecordAttributes(AttributeTemplate):  # type: ignore[misc]
    key = RecordType

    def generic_resolve(self, kind: RecordType, name: str) -> Any:
        return type_of(kind.place_of(name)[1]) if name in kind.instance_class._fields else None


@lower_getattr_generic(RecordType)
def _get_field(context: Any, builder: Any, kind: RecordType, value: Any, name: str) -> Any:
    return _read(context, builder, value, *kind.place_of(name))


def type_of(layout: Layout) -> Any:
    """The numba type of an argument, or of a field of one."""
    if isinstance(layout, tuple):
        return GENERATOR if layout[0] is random.Stream else RecordType(layout)
    if is_scalar(layout):
        return NUMBERS[layout]
    return types.Array(ELEMENTS[layout[:2]], int(layout[3:]), "C")


def arguments_of(layouts: tuple[Layout, ...]) -> Any:
    """A function of the table's address that returns all arguments, as a tuple."""
    kind = types.Tuple(list(map(type_of, layouts)))

    @intrinsic
    def arguments(typing: Any, table: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            scalars, rest = HEAD, HEAD + sum(map(is_scalar, layouts))
            values = []
            for layout in layouts:
                if is_scalar(layout):
                    values.append(_read(context, builder, given[0], scalars, layout))
                    scalars += 1
                else:
                    values.append(_read(context, builder, given[0], rest, layout))
                    rest += n_words(layout)
            return context.make_tuple(builder, kind, values)

        return kind(table), codegen

    return arguments


def _read(context: Any, builder: Any, table: Any, at: int, layout: Layout) -> Any:
    """The LLVM value of an argument whose words begin `at`."""

    def word(n: int) -> Any:
        load = builder.load(builder.gep(table, [WORD(n)], inbounds=True))
        if not is_scalar(layout):  # where an array is never changes
            load.set_metadata("invariant.load", builder.module.add_metadata([]))
        return load

    if isinstance(layout, tuple):
        if layout[0] is random.Stream:
            return _read_generator(context, builder, table, at)
        return builder.gep(table, [WORD(at)], inbounds=True)
    if layout == "float":
        return builder.bitcast(word(at), ir.DoubleType())
    if layout == "int":
        return word(at)
    if layout == "bool":
        return builder.icmp_signed("!=", word(at), WORD(0))
    return _read_array(context, builder, word, at, type_of(layout))


def _read_array(context: Any, builder: Any, word: Any, at: int, kind: Any) -> Any:
    array = context.make_array(kind)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    shape = [word(at + 1 + n) for n in range(kind.ndim)]
    strides: list[Any] = []
    step = WORD(size)
    for extent in reversed(shape):
        strides.insert(0, step)
        step = builder.mul(step, extent, flags=["nsw"])
    data = builder.inttoptr(word(at), array.data.type)
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=WORD(size), meminfo=None)
    return array._getvalue()


def _read_generator(context: Any, builder: Any, table: Any, at: int) -> Any:
    """A numpy Generator whose bits come from `random.Stream`."""

    def word(n: int) -> Any:
        return builder.load(builder.gep(table, [WORD(n)]))

    calls = builder.inttoptr(word(at + 2), WORDS)
    bits = cgutils.create_struct_proxy(types.NumPyRandomBitGeneratorType("bit_generator"))(context, builder)
    bits.state = bits.state_address = word(at)
    for n, name in enumerate(random.CALLS):
        setattr(bits, f"fnptr_{name}", builder.load(builder.gep(calls, [WORD(n)])))
    generator = cgutils.create_struct_proxy(GENERATOR)(context, builder)
    generator.bit_generator = bits._getvalue()
    return generator._getvalue()


# --- results to words


def keeper_of(returns: list[Any]) -> Any:
    """A function that puts what a kernel returned into the table, and notes its type."""

    @intrinsic
    def keep(typing: Any, table: Any, value: Any) -> Any:
        returns[:] = [value]

        def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            kind = signature.args[1]
            parts = cgutils.unpack_tuple(builder, given[1]) if isinstance(kind, types.BaseTuple) else [given[1]]
            kinds = list(kind) if isinstance(kind, types.BaseTuple) else [kind]
            for n, (part, its) in enumerate(zip(parts, kinds, strict=True)):
                if _letter(its) is not None:
                    builder.store(_word(context, builder, part, its), builder.gep(given[0], [WORD(RESULTS + n)]))
            return WORD(0)

        return types.int64(table, value), codegen

    return keep


def _letter(kind: Any) -> str | None:
    kind = types.unliteral(kind)
    if isinstance(kind, types.NoneType):
        return None
    if isinstance(kind, types.Boolean):
        return "b"
    if isinstance(kind, types.Integer):
        return "i"
    if isinstance(kind, types.Float):
        return "f"
    raise TypeError(f"a kernel that Python calls returns {kind}: let it return numbers, or a tuple of some")


def _word(context: Any, builder: Any, value: Any, kind: Any) -> Any:
    target = types.float64 if _letter(kind) == "f" else types.int64
    value = context.cast(builder, value, kind, target)
    return builder.bitcast(value, WORD) if target is types.float64 else value


def _letters(kind: Any) -> str | None:
    if isinstance(kind, types.BaseTuple):
        found = [_letter(one) for one in kind]
        if len(found) > HEAD - RESULTS or None in found:
            raise TypeError(f"a kernel that Python calls returns {kind}: {HEAD - RESULTS} numbers at most")
        return "(" + "".join(map(str, found))
    return _letter(kind)


# --- calls from one part to another, and random numbers


@intrinsic
def _invoke(typing: Any, address: Any, table: Any, scalars: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        base = builder.inttoptr(given[1], WORD.as_pointer())
        for n, kind in enumerate(signature.args[2]):
            value = _word(context, builder, builder.extract_value(given[2], n), kind)
            builder.store(value, builder.gep(base, [WORD(HEAD + n)]))
        shape = context.call_conv.get_function_type(types.int64, (TABLE,))
        function = builder.inttoptr(given[0], shape.as_pointer())
        error = builder.bitcast(builder.gep(base, [WORD(1)]), shape.args[1])
        code = builder.call(function, [base, error, base])
        with cgutils.if_unlikely(builder, cgutils.is_not_null(builder, code)):
            status = context.call_conv._get_return_status(builder, code, builder.load(error))
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, scalars), codegen


@overload(link.invoke, strict=False)
def _overload_invoke(address: Any, table: Any, scalars: Any) -> Any:
    return lambda address, table, scalars: _invoke(address, table, scalars)


@intrinsic
def _result(typing: Any, table: Any, n: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        base = builder.inttoptr(given[0], WORD.as_pointer())
        return builder.load(builder.gep(base, [builder.add(given[1], WORD(RESULTS))]))

    return types.int64(types.int64, types.int64), codegen


@overload(link.result, strict=False)
def _overload_result(table: Any, n: Any) -> Any:
    return lambda table, n: _result(table, n)


@intrinsic
def _with_tolerance(typing: Any, model: Any, tolerance: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        at, _ = signature.args[0].place_of("tolerance")
        builder.store(builder.bitcast(given[1], WORD), builder.gep(given[0], [WORD(at)], inbounds=True))
        return given[0]

    return model(model, types.float64), codegen


@overload(link.with_tolerance, strict=False)
def _overload_with_tolerance(model: Any, tolerance: Any) -> Any:
    return lambda model, tolerance: _with_tolerance(model, tolerance)


@intrinsic
def _words_of(typing: Any, rng: Any) -> Any:
    kind = types.Array(types.uint64, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        generator = cgutils.create_struct_proxy(GENERATOR)(context, builder, given[0])
        bits_type = types.NumPyRandomBitGeneratorType("bit_generator")
        bits = cgutils.create_struct_proxy(bits_type)(context, builder, generator.bit_generator)
        array = context.make_array(kind)(context, builder)
        data = builder.inttoptr(bits.state, array.data.type)
        shape, size = [WORD(random.WORDS)], WORD(8)
        populate_array(array, data=data, shape=shape, strides=[size], itemsize=size, meminfo=None)
        return array._getvalue()

    return kind(rng), codegen


@overload(random.reseed, strict=False)
def _overload_reseed(rng: Any, words: Any) -> Any:
    def reseed(rng: Any, words: Any) -> None:
        state = _words_of(rng)
        for n in range(state.size):
            state[n] = words[n]

    return reseed


# --- object code


def build(kernel: Kernel, layouts: tuple[Layout, ...], target: Target) -> Built:
    """Compile a kernel for these arguments."""
    while UNKNOWN:
        _introduce(UNKNOWN.pop())
    returns: list[Any] = []
    arguments, keep, entry = arguments_of(layouts), keeper_of(returns), _dispatcher(kernel)

    def part(table: Any) -> Any:
        return keep(table, entry(*arguments(table)))

    part.__qualname__ = ENTRY
    with global_compiler_lock, _for_parts_alone(HEAD + sum(map(n_words, layouts))):
        compiled = numba.njit(types.int64(TABLE), _nrt=kernel.memory, **FLAGS)(part)
    [result] = compiled.overloads.values()
    return Built(_emit(result, target), _letters(returns[0]))


@contextmanager
def _for_parts_alone(words: int) -> Iterator[None]:
    """Compile inner kernels only as far as the part that calls them needs: it is optimised as a whole, and only it gets
    machine code. Errors do not say where they were raised: that would be a path on the machine that built the part.
    The caller holds numba's lock, so that nothing else is compiled in this way.

    LLVM is told how many words there are, so that it may read them before it knows whether they are needed.
    """

    def decorate(conventions: Any, function: Any, names: Any, kinds: Any, noalias: bool = False) -> None:
        named(conventions, function, names, kinds, noalias)
        sizes = {f"arg.{name}": _n_words(kind, words) for name, kind in zip(names, kinds, strict=True)}
        for arg in function.args:
            if size := sizes.get(arg.name, 0):
                arg.attributes.dereferenceable, arg.attributes.align = 8 * size, 8
                if arg.name == "arg.table":
                    arg.add_attribute("noalias")  # nothing else points to it

    def optimise(library: Any) -> None:
        if library.name == ENTRY:
            in_full(library)

    def finish(library: Any) -> None:
        library._finalize_dynamic_globals()
        library._finalized = True

    named, in_full = CPUCallConv.decorate_function, CPUCodeLibrary._optimize_final_module
    with (
        patch.object(CPUCallConv, "decorate_function", decorate),
        patch.object(CPUCodeLibrary, "_optimize_final_module", optimise),
        patch.object(CPUCodeLibrary, "_finalize_final_module", finish),
        patch.object(JITCPUCodegen, "set_env", lambda *args: None),
        patch.object(CPUCallConv, "build_excinfo_struct", lambda self, error, args, place, name: (error, args, None)),
    ):
        yield


def _n_words(kind: Any, words: int) -> int:
    """That an argument of this type points to, if it is a record, or the table of so many `words`."""
    return n_words(kind.layout) if isinstance(kind, RecordType) else words if kind == TABLE else 0


def _emit(result: Any, target: Target) -> bytes:
    module = llvm.parse_assembly(str(result.library._final_module))
    entry = result.fndesc.llvm_func_name
    for function in module.functions:
        if function.name == entry:
            function.name, function.linkage = ENTRY, "external"
        elif not function.is_declaration:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration and not variable.name.startswith("llvm."):
            variable.linkage = "internal"
    return bytes(target.machine().emit_object(module))
