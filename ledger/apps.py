"""The ledger app: logs and chips, without any knowledge of games."""

from django.apps import AppConfig


class LedgerConfig(AppConfig):
    name = "ledger"
    verbose_name = "Chips and log"
