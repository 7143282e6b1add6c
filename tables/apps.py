"""Django's entry for the floor."""

from django.apps import AppConfig
from django.core import checks


class TablesConfig(AppConfig):
    """The floor: tables, shoes, rounds, staff."""

    name = "tables"
    verbose_name = "Set up"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Each room puts its functions on the lists of `handlers`. The rows of shoe audits and kept sheets stand apart
        from the other models, so that what deals cannot reach them."""
        from ledger import discrepancies, inspection
        from tables import pepper
        from tables.alerts import channels, rules_in_force, subscriptions  # noqa: F401
        from tables.audit import day_delivery, dual_control, side_records, time_checks  # noqa: F401
        from tables.audit import policy_checks as terms_proof  # noqa: F401
        from tables.audit import service_accounts as _programs  # noqa: F401
        from tables.cage import (  # noqa: F401
            chips_in_play,
            denominations,
            retirement,
            table_desk,
        )
        from tables.disputes import claims, corrections  # noqa: F401
        from tables.edge import cached_sheets, favour, shoe_audit  # noqa: F401
        from tables.feed import models as feed_models  # noqa: F401
        from tables.floor import (  # noqa: F401
            back_entry,
            card_readers,
            cash,
            commission,
            deck_checks,
            irregularities,
            player_pages,
            pots,
            refused_inputs,
            restored_tables,
            rounds,
            shoes,
            table_opening,
        )
        from tables.reports import day_close, gaming_hours  # noqa: F401
        from tables.setup import pay_tables, policies, role_choices, service_accounts, table_settings  # noqa: F401
        from tables.staff import secret_checks, staffing  # noqa: F401

        table_settings.go_by_edges(favour.player_edges)
        discrepancies.use_limits(lambda: policies.levels("discrepancy_levels_cents"))
        inspection.use_uncounted(chips_in_play.uncounted_cents)
        checks.register(pepper.check, checks.Tags.security, deploy=True)
        checks.register(policies.check)
        checks.register(day_delivery.check)
