"""The secret orders of electronic shoes."""

from django.db import models

from tables.models.tables import Table


class HouseShoe(models.Model):
    """The secret order of one shuffle of an electronic shoe.

    Its commitment is in the log before its first card is dealt. Rows are inserted and read by ``shoes.py`` only; no
    screen shows one before the log has opened it.
    """

    table = models.ForeignKey(Table, on_delete=models.PROTECT)
    commitment = models.CharField(max_length=64, unique=True)
    order = models.BinaryField()
    nonce = models.BinaryField()
    shuffled_at = models.DateTimeField(auto_now_add=True)
