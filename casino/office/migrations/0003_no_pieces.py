from django.db import migrations


class Migration(migrations.Migration):
    """Forget the pieces of bundles that came by replication.

    Only Django's state changes: the table stays for the previous release, which works on this database during an
    upgrade or after going back. Nothing in it is needed: bundles that were put together are arrivals, and a site sends
    every day that has not arrived over HTTPS. The next release drops the table and its trigger's function.
    """

    dependencies = [("office", "0001_squashed_0002_pieces")]

    operations = [migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel("Piece")])]
