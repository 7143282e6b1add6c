"""Django's entry for the floor."""

from django.apps import AppConfig
from django.core import checks


class TablesConfig(AppConfig):
    """The floor: tables, shoes, rounds, staff."""

    name = "tables"
    verbose_name = "Set up"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """The rows of shoe audits stand apart from the other models, so that what deals cannot reach them."""
        from tables import pepper
        from tables.edge import shoe_audit  # noqa: F401

        checks.register(pepper.check, checks.Tags.security, deploy=True)
