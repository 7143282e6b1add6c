"""JSON bodies: a parser and a renderer of DRF that read and write the structs which an operation declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any, Final

import msgspec
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer

from tables.api import versions
from tables.log import moments
from tables.refusals import Refused, unreadable

MAX_BYTES: Final = 8_192
"""Of the body of a request."""


class StructParser(BaseParser):
    """Reads the body of a request as the struct of its operation."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """The body. Raises Refused with the field at fault."""
        context = parser_context or {}
        declared, version = context["view"].operation, context["request"].version
        text = stream.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise Refused("too_large", f"A body has at most {MAX_BYTES} bytes here.", 413)
        try:
            body = msgspec.json.decode(text, type=versions.wire_type(version, declared.body))
        except msgspec.ValidationError as error:
            raise unreadable(error, "body") from None
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise Refused("bad_input", "The body is not JSON.", 400) from None
        moments.refuse(body)
        return versions.from_wire(declared.body, body)


class StructRenderer(JSONRenderer):
    """Writes the answer of an operation in the version of the request."""

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """JSON in UTF-8."""
        context = renderer_context or {}
        form = context["view"].operation.form(context["response"].status_code)
        return msgspec.json.encode(versions.to_wire(context["request"].version, form, data))
