"""The ledger app: chips and the log, which know nothing of games."""

from django.apps import AppConfig


class LedgerConfig(AppConfig):
    name = "ledger"
    verbose_name = "Chips and log"
