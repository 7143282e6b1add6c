"""Registers the pages of operators with Django's admin site, which imports this module at its start."""

from django.contrib import admin

from dealer_ui.operator.limits import plans  # noqa: F401

admin.site.index_template = "dealer_ui/operator/front_page.html"
