"""Deliveries remember their progress, as positions in streams do: the time of the next attempt and the failures."""

from django.db import migrations, models

PROGRESS = """
UPDATE tables_delivery SET failures = progress.failures, due_at = progress.due_at
FROM (
    SELECT d.id, count(*) FILTER (WHERE a.outcome = 'failed') AS failures, CASE
        WHEN bool_or(a.outcome <> 'failed') THEN NULL
        WHEN count(a.id) = 0 THEN coalesce(max(r.at), d.at)
        ELSE max(a.at) + least(interval '10 seconds' * 2 ^ (count(a.id) - 1), interval '1 hour')
    END AS due_at
    FROM tables_delivery AS d
    LEFT JOIN LATERAL (
        SELECT after, at FROM tables_resending WHERE delivery_id = d.id ORDER BY after DESC LIMIT 1
    ) AS r ON true
    LEFT JOIN tables_deliveryattempt AS a ON a.delivery_id = d.id AND a.number > coalesce(r.after, 0)
    WHERE {which} GROUP BY d.id
) AS progress
WHERE tables_delivery.id = progress.id
"""
"""Progress by the attempts since a delivery was put out or last sent again."""

# A sent delivery is not looked at: the mark has passed it.
WAITING = "(d.id > coalesce((SELECT max(through) FROM tables_outboxmark), 0) OR r.after IS NOT NULL)"
CARRY_OVER = f"{PROGRESS.format(which=WAITING)} AND progress.due_at IS NOT NULL"

# The rest of a row is never changed: it is what a receiver was sent.
STAYS = """
CREATE TRIGGER tables_delivery_stays BEFORE DELETE OR UPDATE OF id, channel_id, name, alert_id, step, key, body, at
    ON tables_delivery FOR EACH ROW EXECUTE FUNCTION ledger_stays()
"""

# During a rolling upgrade, processes of the release before add attempts and resendings without the progress. It runs as
# its owner, for they may not change the row until the grants are renewed. The release after this may drop it.
FOLLOWS = f"""
CREATE FUNCTION tables_delivery_follows() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN {PROGRESS.format(which="d.id = NEW.delivery_id")};
    RETURN NULL;
END $$;
CREATE TRIGGER tables_deliveryattempt_follows AFTER INSERT ON tables_deliveryattempt
    FOR EACH ROW EXECUTE FUNCTION tables_delivery_follows();
CREATE TRIGGER tables_resending_follows AFTER INSERT ON tables_resending
    FOR EACH ROW EXECUTE FUNCTION tables_delivery_follows();
"""
NOT_ANY_MORE = """
DROP TRIGGER tables_delivery_stays ON tables_delivery;
DROP TRIGGER tables_deliveryattempt_follows ON tables_deliveryattempt;
DROP TRIGGER tables_resending_follows ON tables_resending;
DROP FUNCTION tables_delivery_follows();
"""


class Migration(migrations.Migration):
    dependencies = [("tables", "0041_line_up"), ("ledger", "0028_one_supervisor")]

    operations = [
        migrations.AddField("delivery", "asked_at", models.DateTimeField(null=True)),
        migrations.AddField("delivery", "failures", models.SmallIntegerField(db_default=0, default=0)),
        # Without the default at first: with it, all that was ever sent would be due.
        migrations.AddField("delivery", "due_at", models.DateTimeField(null=True)),
        # With it: what the release before puts out meanwhile is due.
        migrations.AlterField(
            "delivery", "due_at", models.DateTimeField(db_default=models.Func(function="ledger_now"), null=True)
        ),
        migrations.RunSQL(CARRY_OVER, migrations.RunSQL.noop),
        migrations.RunSQL(STAYS + ";" + FOLLOWS, NOT_ANY_MORE),
        # The table stays for the release before, which reads and moves the mark. The next release drops it.
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel("OutboxMark")]),
    ]
