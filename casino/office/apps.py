"""The head office as a Django app. Its tables exist in every database, and stay empty in a house's."""

from django.apps import AppConfig


class OfficeConfig(AppConfig):
    """Houses, the bundles they sent, and their figures."""

    name = "casino.office"
    label = "office"
    verbose_name = "Head office"
    default_auto_field = "django.db.models.BigAutoField"
