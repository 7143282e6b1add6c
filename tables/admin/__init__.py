"""The admin's pages, where Django looks for them."""

from tables.admin import custody, pages, pit_assignments, pits, service_accounts  # noqa: F401
