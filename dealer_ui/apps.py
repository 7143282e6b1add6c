"""The screens as a Django app: templates, static files, template tags."""

from django.apps import AppConfig


class DealerUiConfig(AppConfig):
    """No models: a screen keeps nothing."""

    name = "dealer_ui"
    verbose_name = "Screens"
