"""Settings of a resolver: what they mean, their defaults and their ranges."""

# Annotations are evaluated once and not kept as text, which pydantic would have to compile.
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sessionref.errors import InvalidConfigError
from sessionref.javascript import MAX_SAFE_INTEGER

__all__ = ["ResolverConfig"]

_Positive = Annotated[int, Field(strict=True, ge=1, le=MAX_SAFE_INTEGER)]


class ResolverConfig(BaseModel):
    """The limits of one resolver.

    A value outside its range raises `InvalidConfigError`, which names the setting, the value and
    the range.  The commands take the same settings as options (`--max-references`) and as
    environment variables (`SESSIONREF_MAX_REFERENCES`); the library reads no environment.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    candidate_limit: _Positive = Field(
        default=50, description="How many candidates a lookup lists at most."
    )
    max_references: Annotated[int, Field(strict=True, ge=1, le=3)] = Field(
        default=3, description="How many distinct sessions one message may refer to."
    )
    max_reference_bytes: _Positive = Field(
        default=65_536, description="The UTF-8 bytes that one referenced session may take up."
    )
    read_concurrency: Annotated[int, Field(strict=True, ge=1, le=64)] = Field(
        default=4, description="How many logs are read at the same time."
    )
    max_log_bytes: _Positive = Field(
        default=2**30, description="The bytes that one compressed log may decompress to."
    )
    known_types: frozenset[Annotated[str, Field(min_length=1)]] = Field(
        default=frozenset(),
        description="Further event types that a log may hold without becoming unsupported.",
    )

    def __init__(self, **settings: Any) -> None:
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise _invalid_setting(error) from error


def _invalid_setting(error: ValidationError) -> InvalidConfigError:
    detail = error.errors(include_url=False)[0]
    name = str(detail["loc"][0]) if detail["loc"] else "settings"
    return InvalidConfigError(name=name, value=detail["input"], expected=_range_of(name))


def _range_of(name: str) -> str:
    match name:
        case "max_references":
            return "an integer from 1 to 3"
        case "read_concurrency":
            return "an integer from 1 to 64"
        case "known_types":
            return "a set of non-empty event types"
        case _ if name in ResolverConfig.model_fields:
            return f"an integer from 1 to {MAX_SAFE_INTEGER:,} (2^53 - 1)"
        case _:
            return "one of the settings " + ", ".join(ResolverConfig.model_fields)
