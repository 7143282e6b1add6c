"""What games that take long to value are worth, kept once for each set of options."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tables", "0014_shufflers")]

    operations = [
        migrations.CreateModel(
            name="KeptSheet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("game", models.CharField(max_length=40)),
                ("options_digest", models.CharField(max_length=64)),
                ("method", models.IntegerField()),
                ("options", models.JSONField()),
                ("wagers", models.JSONField()),
                ("covariances", models.JSONField()),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name": "kept sheet",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("game", "options_digest", "method"), name="tables_keptsheet_once"
                    )
                ],
            },
        ),
    ]
