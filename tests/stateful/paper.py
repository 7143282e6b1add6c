"""A page as a person sees it: its links, and the forms that can be sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

Attributes = dict[str, str]
_PRESSED: Final = ("submit", "image")


@dataclass
class Field:
    """An input, a choice or a text area."""

    name: str
    kind: str
    """The type of an input, or ``select`` or ``textarea``."""
    value: str = ""
    is_chosen: bool = False
    options: list[str] = field(default_factory=list)
    is_required: bool = False


@dataclass
class Form:
    """A form, with its fields and the buttons that send it."""

    method: str
    action: str
    fields: list[Field] = field(default_factory=list)
    buttons: list[tuple[str, str]] = field(default_factory=list)
    """The name and value that each button adds; empty strings if it has none."""


class Paper(HTMLParser):
    """Reads a page. Buttons and fields outside their form name it by its id."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.links: list[str] = []
        self._by_id: dict[str, Form] = {}
        self._strays: list[tuple[str, Field | tuple[str, str]]] = []
        self._form: Form | None = None
        self._select: Field | None = None
        self._text: Field | None = None
        self._unnamed: Field | None = None
        """The choice whose current option has no value attribute: its text is the value."""
        self.feed(page)
        for name, stray in self._strays:
            if name in self._by_id:
                self._put(self._by_id[name], stray)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        match tag:
            case "form":
                self._begin(attributes)
            case "a":
                self.links.append(attributes.get("href", ""))
            case "option" if self._select is not None:
                self._option(self._select, attributes)
            case "button" if "disabled" not in attributes and attributes.get("type", "submit") in _PRESSED:
                button = (attributes.get("name", ""), attributes.get("value", ""))
                self._place(attributes, button)
            case "input" | "select" | "textarea" if "disabled" not in attributes:
                self._fill(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        match tag:
            case "form":
                self._form = None
            case "option":
                self._unnamed = None
            case "select":
                self._select = None
            case "textarea":
                self._text = None

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.value += data
        if self._unnamed is not None:
            self._unnamed.options.append(data.strip())
            self._unnamed = None

    def _begin(self, attributes: Attributes) -> None:
        self._form = Form(attributes.get("method", "get").lower(), attributes.get("action", ""))
        self.forms.append(self._form)
        if "id" in attributes:
            self._by_id[attributes["id"]] = self._form

    def _option(self, select: Field, attributes: Attributes) -> None:
        if "value" in attributes:
            select.options.append(attributes["value"])
        else:
            self._unnamed = select

    def _fill(self, tag: str, attributes: Attributes) -> None:
        kind = attributes.get("type", "text") if tag == "input" else tag
        if not attributes.get("name"):
            return
        if kind in _PRESSED:
            self._place(attributes, (attributes["name"], attributes.get("value", "")))
            return
        entry = Field(attributes["name"], kind, attributes.get("value", ""), "checked" in attributes)
        entry.is_required = "required" in attributes
        self._select = entry if tag == "select" else self._select
        self._text = entry if tag == "textarea" else self._text
        self._place(attributes, entry)

    def _place(self, attributes: Attributes, part: Field | tuple[str, str]) -> None:
        if "form" in attributes:
            self._strays.append((attributes["form"], part))
        elif self._form is not None:
            self._put(self._form, part)

    @staticmethod
    def _put(form: Form, part: Field | tuple[str, str]) -> None:
        if isinstance(part, Field):
            form.fields.append(part)
        else:
            form.buttons.append(part)
