import django.db.models.lookups
from django.db import migrations, models

# A publisher may send any value of any column, and says nothing of who it is; the worker that applies is its
# subscription's. A row that is there already would stop that worker for good: it is passed over, so a letter box may be
# read from its beginning as often as anybody likes. The worker has no search path.
OF_ITS_HOUSE = """
CREATE FUNCTION office_piece_of_its_house() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.line := (SELECT subname FROM pg_stat_subscription WHERE pid = pg_backend_pid() LIMIT 1);
    IF EXISTS (SELECT FROM public.office_piece
               WHERE line = NEW.line AND bundle = NEW.bundle AND start = NEW.start) THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER office_piece_of_its_house BEFORE INSERT ON office_piece
    FOR EACH ROW EXECUTE FUNCTION office_piece_of_its_house();
ALTER TABLE office_piece ENABLE REPLICA TRIGGER office_piece_of_its_house;
"""


class Migration(migrations.Migration):
    """Pieces of bundles, as logical replication brings them."""

    dependencies = [("office", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Piece",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "line", "bundle", "start", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("line", models.CharField(db_default="", max_length=63)),
                ("bundle", models.CharField(max_length=64)),
                ("start", models.BigIntegerField()),
                ("number", models.IntegerField()),
                ("size", models.BigIntegerField()),
                ("content", models.BinaryField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=django.db.models.lookups.LessThanOrEqual(
                            models.Func("content", function="octet_length", output_field=models.IntegerField()), 524288
                        ),
                        name="office_piece_length",
                    ),
                ],
            },
        ),
        migrations.RunSQL(
            OF_ITS_HOUSE,
            "DROP TRIGGER office_piece_of_its_house ON office_piece; DROP FUNCTION office_piece_of_its_house()",
        ),
    ]
