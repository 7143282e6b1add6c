"""The API described: JSON Schemas made from the very types that read and write, for OpenAPI."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from drf_spectacular.authentication import SessionScheme

from tables.api.forms import Acknowledged, Entered, Problem, RoundForm, TableLine
from tables.board.picture import Board
from tables.inputs import Sent
from tables.models import Table

_FORMS: Final = (Entered, Acknowledged, Problem, TableLine, Board, RoundForm, Sent)
_REF: Final = "#/components/schemas/{name}"


def ref(form: type) -> dict[str, Any]:
    """A form, by its name among the components."""
    return {"$ref": _REF.format(name=form.__name__)}


def components() -> dict[str, Any]:
    """The schema of every form that the API reads or writes."""
    (*_, entered), schemas = msgspec.json.schema_components(_FORMS, schema_hook=_table, ref_template=_REF)
    schemas["Entered"]["properties"]["input"] = entered
    for hidden in ("gone", "decks"):
        del schemas["AskCard"]["properties"][hidden]
        schemas["AskCard"]["required"].remove(hidden)
    return {"schemas": schemas}


class SignedInScheme(SessionScheme):
    """The session cookie, described as such."""

    target_class = "tables.api.views.SignedIn"
    name = "session"


def _table(kind: type) -> dict[str, Any]:
    if kind is not Table:
        raise NotImplementedError(kind)
    text, number = {"type": "string"}, {"type": "integer"}
    properties = {"id": number, "name": text, "game": text, "seats": number, "source": text}
    return {"type": "object", "properties": properties, "required": list(properties)}
