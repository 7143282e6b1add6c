"""Whether a table marks commission at its seats and collects it later: none did before."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tables", "0016_pay_tables")]

    operations = [
        migrations.AddField(
            model_name="table",
            name="marks_commission",
            field=models.BooleanField(
                default=False,
                help_text="At the end of the shoe, or when the player leaves. Else it is taken at once.",
                verbose_name="commission is marked and collected later",
            ),
        ),
    ]
