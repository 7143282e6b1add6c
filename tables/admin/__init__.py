"""The admin's pages, where Django looks for them."""

from tables.admin import custody, limit_plans, pages, pit_assignments, pits, service_accounts  # noqa: F401
