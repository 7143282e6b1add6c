"""The pages of the admin, which Django imports at its start."""

from tables.admin import (  # noqa: F401
    alert_channels,
    chips,
    custody,
    gaming_hours,
    log_entries,
    pay_tables,
    pits,
    read_only,
    service_accounts,
    staff,
    tables,
    terminals,
)  # fmt: skip
