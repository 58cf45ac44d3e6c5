/** Creates the triggers that maintain the row counts of `countedLists` (see maintained-counts.ts). */
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import type { MigrationTransaction } from './migrations.ts'

const tablePattern = /^[a-z][a-z0-9_]{0,50}$/

/** Runs after the migrations, in their transaction. Skips tables that already have the triggers. */
export async function countLists(transaction: MigrationTransaction, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    if (!tablePattern.test(table)) throw notCounted(table, 'its name is not made of lower-case letters and underscores')
    if (await isCounted(transaction, table)) continue
    try {
      await transaction.script(transaction.dialect === 'sqlite' ? sqliteScript(table) : postgresScript(table))
    } catch (error) {
      throw notCounted(table, (error as Error).message, error)
    }
  }
}

/** Whether the triggers are there. */
export async function isCounted(
  { dialect, query }: Pick<MigrationTransaction, 'dialect' | 'query'>,
  table: string,
): Promise<boolean> {
  const trigger = `${table}_counted`
  const found =
    dialect === 'sqlite'
      ? await query("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name = $1", [trigger])
      : await query('SELECT tgname FROM pg_trigger WHERE tgname = $1 AND tgrelid = to_regclass($2)', [trigger, table])
  return found.length > 0
}

const sqliteScript = (table: string) => `
  INSERT INTO kept_counts
    WITH levels (level) AS (VALUES (7), (14), (21))
    SELECT '${table}', level, id >> level, count(*) FROM ${table}, levels GROUP BY 1, 2, 3;
  CREATE TRIGGER ${table}_counted AFTER INSERT ON ${table} BEGIN
    INSERT INTO kept_counts
      VALUES ('${table}', 7, new.id >> 7, 1), ('${table}', 14, new.id >> 14, 1), ('${table}', 21, new.id >> 21, 1)
      ON CONFLICT (list, level, block) DO UPDATE SET live = live + 1;
  END;
  CREATE TRIGGER ${table}_uncounted AFTER DELETE ON ${table} BEGIN
    UPDATE kept_counts SET live = live - 1
      WHERE list = '${table}' AND (level, block) IN (VALUES (7, old.id >> 7), (14, old.id >> 14), (21, old.id >> 21));
  END;`

// The lock keeps rows from being added between the count and the creation of the triggers.
const postgresScript = (table: string) => `
  LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE;
  INSERT INTO kept_counts
    SELECT '${table}', level, id >> level, count(*)
    FROM ${table}, (VALUES (7), (14), (21)) AS levels (level) GROUP BY 1, 2, 3;
  CREATE TRIGGER ${table}_counted AFTER INSERT ON ${table}
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_new_rows();
  CREATE TRIGGER ${table}_uncounted AFTER DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION count_gone_row();
  CREATE TRIGGER ${table}_forgotten AFTER TRUNCATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION forget_counts();`

function notCounted(table: string, reason: string, cause?: unknown): FatalError {
  return new FatalError(`the table ${table} cannot be counted: ${reason}`, exitCodes.badData, { cause })
}
