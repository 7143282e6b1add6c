"""The admin's pages, where Django looks for them."""

from tables.admin import pages  # noqa: F401
