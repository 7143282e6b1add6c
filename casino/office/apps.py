"""The head office as a Django app. Its tables exist in every database, and stay empty at a site."""

from django.apps import AppConfig


class OfficeConfig(AppConfig):
    """Sites, the bundles that they sent, and their figures."""

    name = "casino.office"
    label = "office"
    verbose_name = "Head office"
    default_auto_field = "django.db.models.BigAutoField"
