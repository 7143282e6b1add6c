"""What waits at the door of the house's book. A notice is written once, and so is the number of its entry."""

import django.core.serializers.json
from django.db import migrations, models

WRITTEN_ONCE = """
CREATE FUNCTION ledger_notice_written() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.seq IS NOT NULL OR NEW.seq IS NULL
        OR to_jsonb(NEW) - 'seq' <> to_jsonb(OLD) - 'seq'
        OR NOT EXISTS (
            SELECT FROM ledger_logentry AS e JOIN ledger_book AS b ON b.id = e.book_id
            WHERE b.name = 'house' AND e.seq = NEW.seq AND e.key = NEW.key)
    THEN
        RAISE EXCEPTION 'a notice is never changed: it is given the number of its entry, once'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER ledger_notice_written BEFORE UPDATE ON ledger_notice
    FOR EACH ROW EXECUTE FUNCTION ledger_notice_written();
"""
NOT_ANY_MORE = "DROP TRIGGER ledger_notice_written ON ledger_notice; DROP FUNCTION ledger_notice_written();"


class Migration(migrations.Migration):
    dependencies = [("ledger", "0013_run_end_at")]

    operations = [
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.UUIDField(unique=True)),
                ("at", models.DateTimeField()),
                ("subject", models.CharField(max_length=16)),
                ("kind", models.CharField(max_length=32)),
                ("by", models.CharField(max_length=120)),
                ("content", models.JSONField(encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ("seq", models.BigIntegerField(editable=False, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("seq", None)), fields=["id"], name="ledger_notice_waiting")
                ],
            },
        ),
        migrations.RunSQL(WRITTEN_ONCE, NOT_ANY_MORE),
    ]
