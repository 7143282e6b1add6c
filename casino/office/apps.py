"""The head office as a Django app. Its tables exist in every database, and stay empty at a site."""

from django.apps import AppConfig
from django.core import checks


class OfficeConfig(AppConfig):
    """Sites, the bundles that they sent, and their figures."""

    name = "casino.office"
    label = "office"
    verbose_name = "Head office"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the system checks."""
        from casino.office.checks import check_subscriptions

        checks.register(check_subscriptions, checks.Tags.database)
