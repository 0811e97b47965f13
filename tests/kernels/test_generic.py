"""Generic functions find the implementation of a record's type, from Python and from compiled code."""

from typing import NamedTuple

import pytest

from mfbai.kernels.jit import generic, kernel


class Square(NamedTuple):
    side: float


class Round(NamedTuple):
    radius: float


class Flat(NamedTuple):
    length: float


Square.solid, Round.solid, Flat.solid = True, True, False


@kernel
def nothing(shape):
    return 0.0


def never_compiled(shape):
    return shape.no_such_field


@kernel
def square_area(shape):
    return shape.side * shape.side


@generic(0, choose=lambda kind: never_compiled if kind.solid else nothing)
def area(shape):
    """The area of a shape."""


@kernel
def twice(shape):
    return 2.0 * area(shape)


area.register(Square, square_area)


@pytest.mark.parametrize(("shape", "wanted"), [(Square(3.0), 9.0), (Flat(3.0), 0.0)], ids=["registered", "chosen"])
def test_an_implementation_is_registered_or_chosen_by_a_trait(shape, wanted):
    """Compiled code holds the one that is used: the other choice could not be compiled for it."""
    assert area(shape) == wanted
    assert twice(shape) == 2 * wanted


def test_a_record_without_an_implementation_is_named():
    @generic(0)
    def volume(shape):
        """The volume of a shape."""

    with pytest.raises(TypeError, match="volume is not registered for Square"):
        volume(Square(1.0))


def shape_called_state(size):
    class State(NamedTuple):
        size: float

    @kernel
    def state_area(shape):
        return size * shape.size

    area.register(State, state_area)
    return State(1.0)


def test_records_of_the_same_name_and_fields_keep_their_own_code():
    """Numba takes them for one type. Two copies of a skeleton, or a module that is loaded again, have such records."""
    first, second = shape_called_state(1.0), shape_called_state(2.0)

    assert [twice(first), twice(second), twice(first)] == [2.0, 4.0, 2.0]
