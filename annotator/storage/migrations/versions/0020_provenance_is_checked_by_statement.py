"""On PostgreSQL, the pairs that provenance names are looked up once for each statement, no longer once for each row

Revision: 0020, after 0019
"""

from alembic import op

revision = '0020'
down_revision = '0019'
branch_labels = None
depends_on = None

# What the foreign key did, row by row: no provenance without its pair, and no pair goes (or gets another key) while provenance names
# it. The pairs are locked as a foreign key locks them, so that nobody deletes one before this transaction ends; who judges them does
# not wait. Whoever deletes a pair must see what was committed meanwhile, which REPEATABLE READ does not.
CHECK = """
CREATE FUNCTION provenance_has_its_pair() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE missing integer;
BEGIN
  PERFORM 1 FROM pair WHERE pk IN (SELECT pair_pk FROM added) FOR KEY SHARE;
  SELECT a.pair_pk INTO missing FROM added a WHERE NOT EXISTS (SELECT 1 FROM pair p WHERE p.pk = a.pair_pk) LIMIT 1;
  IF FOUND THEN
    RAISE foreign_key_violation USING
      MESSAGE = 'insert or update on table "provenance" violates foreign key constraint "fk_provenance_pair_pk"',
      DETAIL = format('Key (pair_pk)=(%s) is not present in table "pair".', missing),
      TABLE = 'provenance', CONSTRAINT = 'fk_provenance_pair_pk';
  END IF;
  RETURN NULL;
END $$
"""
KEEP = """
CREATE FUNCTION pair_of_provenance_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('transaction_isolation') = 'repeatable read' THEN
    RAISE feature_not_supported USING MESSAGE = 'pairs are deleted in READ COMMITTED or SERIALIZABLE transactions only';
  END IF;
  IF EXISTS (SELECT 1 FROM provenance WHERE pair_pk = OLD.pk) THEN
    RAISE foreign_key_violation USING
      MESSAGE = 'update or delete on table "pair" violates foreign key constraint "fk_provenance_pair_pk" on table "provenance"',
      DETAIL = format('Key (pk)=(%s) is still referenced from table "provenance".', OLD.pk),
      TABLE = 'provenance', CONSTRAINT = 'fk_provenance_pair_pk';
  END IF;
  RETURN NULL;
END $$
"""


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.execute("ALTER TABLE provenance DROP CONSTRAINT fk_provenance_pair_pk")
    op.execute(CHECK)
    for verb in ("INSERT", "UPDATE"):
        op.execute(
            f"CREATE TRIGGER provenance_pair_after_{verb.lower()} AFTER {verb} ON provenance "
            "REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION provenance_has_its_pair()"
        )
    op.execute(KEEP)
    op.execute(
        "CREATE TRIGGER pair_stays_after_delete AFTER DELETE ON pair FOR EACH ROW EXECUTE FUNCTION pair_of_provenance_stays()"
    )
    op.execute(
        "CREATE TRIGGER pair_stays_after_update AFTER UPDATE OF pk ON pair FOR EACH ROW WHEN (OLD.pk IS DISTINCT FROM NEW.pk) "
        "EXECUTE FUNCTION pair_of_provenance_stays()"
    )
