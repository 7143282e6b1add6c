"""The admin's pages, where Django looks for them."""

from tables.admin import custody, pages, pits  # noqa: F401
