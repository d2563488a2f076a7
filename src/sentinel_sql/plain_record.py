"""The base of stored records, and the numbers that they hold."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sentinel_sql.errors import InputError

Count = Annotated[int, Field(ge=0, le=2**53)]
"""A count that a float holds exactly."""

Share = Annotated[float, Field(ge=0, le=1)]


class Record(BaseModel):
    """Frozen, keeps unknown keys, and never prints its input in an error.

    Numbers are finite, as JSON has no other.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="allow", hide_input_in_errors=True, allow_inf_nan=False
    )

    def __init__(self, /, **fields: Any) -> None:
        """Build a record.

        Raises:
            InputError: a field is missing or of a wrong type; the message never quotes a value.
        """
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise wrong_field(type(self).__name__, error) from None

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # reading never calls it


def wrong_field(record: str, error: ValidationError) -> InputError:
    """Return the error for a record that was built with a wrong field."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(map(str, first["loc"])) or "its fields"
    message = " ".join(first["msg"].split())
    return InputError(f"{record}: {field} can't be used ({message}): give another value")
