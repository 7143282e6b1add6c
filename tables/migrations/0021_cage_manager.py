"""The cage manager; and room for roles with longer names."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tables", "0020_duties")]

    operations = [
        migrations.AlterField(
            model_name="staff",
            name="role",
            field=models.CharField(
                choices=[
                    ("dealer", "Dealer"),
                    ("pit_boss", "Pit boss"),
                    ("operator", "Operator"),
                    ("auditor", "Auditor"),
                    ("cashier", "Cashier"),
                    ("security", "Security"),
                    ("counter", "Counter"),
                    ("cage_manager", "Cage manager"),
                ],
                max_length=16,
            ),
        ),
    ]
