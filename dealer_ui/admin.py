"""Registers the pages of operators with Django's admin site, which imports this module at its start."""

from dealer_ui.operator.limits import plans  # noqa: F401
