"""Copies of what a host passes in, which nothing that it does later can change.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from sessionref.errors import InvalidReferenceError

__all__ = ["detached"]


def detached(data: object) -> Any:
    """Return data that shares nothing mutable with `data`, its mappings as dicts."""
    try:
        return _copy(data, {})
    except Exception as error:  # what a copy raises is up to the data: it may hold anything
        problem = "cannot be copied: it is nested too deep, or is no JSON data"
        raise InvalidReferenceError(value=data, problem=problem) from error


def _copy(data: object, done: dict[int, tuple[object, object]]) -> Any:
    """Copy like `deepcopy`, which cannot copy every mapping; `done` are originals and copies."""
    copy: object
    if id(data) in done:
        return done[id(data)][1]
    if isinstance(data, str):
        return str.__str__(data)
    if isinstance(data, Mapping):
        copy = {_copy(name, done): _copy(value, done) for name, value in data.items()}
    elif isinstance(data, list | tuple):
        copy = [_copy(item, done) for item in data]
    else:
        copy = deepcopy(data)
    done[id(data)] = (data, copy)
    return copy
