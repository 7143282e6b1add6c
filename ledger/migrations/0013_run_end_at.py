from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0012_clock")]

    operations = [
        migrations.AddIndex(
            model_name="runend",
            index=models.Index(fields=["at"], name="ledger_runend_at"),
        ),
    ]
