"""Settings: their defaults, their ranges, and errors that name both."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from sessionref import ErrorCode, ResolverConfig
from sessionref.errors import InvalidConfigError
from sessionref.javascript import MAX_SAFE_INTEGER

COUNTS = ["candidate_limit", "max_reference_bytes", "max_log_bytes"]
UPPER = {**dict.fromkeys(COUNTS, MAX_SAFE_INTEGER), "max_references": 3, "read_concurrency": 64}
NO_INTEGERS = ["3", 3.0, True, None, [3]]
NO_TYPE_SETS = ["turn/start", [""], [3], 3, None, {"a": 1}]


def refusal_of(name: str, value: object) -> InvalidConfigError:
    with pytest.raises(InvalidConfigError) as caught:
        ResolverConfig(**{name: value})
    return caught.value


def test_defaults() -> None:
    """A resolver without settings has these limits."""
    assert ResolverConfig().model_dump() == {
        "candidate_limit": 50,
        "max_references": 3,
        "max_reference_bytes": 65_536,
        "read_concurrency": 4,
        "max_log_bytes": 2**30,
        "known_types": frozenset(),
    }


def test_every_setting_says_what_it_means() -> None:
    """Commands and documentation take their words from here."""
    assert all(field.description for field in ResolverConfig.model_fields.values())


@pytest.mark.parametrize(("name", "upper"), UPPER.items())
def test_a_range_holds_both_its_ends(name: str, upper: int) -> None:
    """From 1 to the greatest allowed integer, a value is taken as it is."""
    for value in (1, upper):
        assert getattr(ResolverConfig(**{name: value}), name) == value


@pytest.mark.parametrize(("name", "upper"), UPPER.items())
def test_a_value_beyond_its_range_is_refused(name: str, upper: int) -> None:
    """The error names the setting, the value and the range, in fields and in words."""
    for value in (-1, 0, upper + 1):
        error = refusal_of(name, value)
        assert (error.name, error.value) == (name, value)
        assert f"from 1 to {upper:,}" in error.expected
        assert str(error) == (
            f"{name} is {value}, but must be {error.expected} [{ErrorCode.INVALID_CONFIG}]"
        )


@pytest.mark.parametrize("value", NO_INTEGERS, ids=repr)
@pytest.mark.parametrize("name", UPPER)
def test_a_count_is_an_integer_and_nothing_that_looks_like_one(name: str, value: object) -> None:
    """A string, a double, a boolean or null is no count."""
    error = refusal_of(name, value)
    assert (error.name, error.value) == (name, value)


@pytest.mark.parametrize("types", [set(), {"a"}, frozenset({"a", "b/c"}), ["a", "a"]], ids=repr)
def test_known_types_are_a_set(types: set[str]) -> None:
    """Any collection of event types is taken, and kept as a set."""
    assert ResolverConfig(known_types=types).known_types == frozenset(types)


@pytest.mark.parametrize("value", NO_TYPE_SETS, ids=repr)
def test_other_known_types_are_refused(value: object) -> None:
    """A single string or a collection with something else than types in it names the setting."""
    error = refusal_of("known_types", value)
    assert error.name == "known_types"
    assert error.expected == "a set of non-empty event types"


def test_an_unknown_setting_is_refused() -> None:
    """A setting that does not exist is no silent typing error: the error lists those that do."""
    error = refusal_of("max_refrences", 2)
    assert (error.name, error.value) == ("max_refrences", 2)
    assert all(name in error.expected for name in ResolverConfig.model_fields)


def test_the_first_wrong_setting_is_named() -> None:
    """Right settings beside a wrong one do not hide it."""
    with pytest.raises(InvalidConfigError, match="max_references is 0"):
        ResolverConfig(candidate_limit=5, max_references=0)


def test_a_config_is_frozen() -> None:
    """What a resolver was given does not change under it."""
    config = ResolverConfig()
    with pytest.raises(ValidationError, match="frozen"):
        config.max_references = 1
    assert config == ResolverConfig(max_references=3)
