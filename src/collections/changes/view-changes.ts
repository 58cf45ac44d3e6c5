/** Tells readers of the change log to begin anew when the declaration of what they see has changed since the last start. */
import { hash } from 'node:crypto'
import type { Statement } from '../../platform/database/database.ts'
import type { Infrastructure } from '../../platform/infrastructure.ts'
import type { Described } from '../declare/describe.ts'
import type { Rule } from '../declare/rules.ts'
import { stateTable } from '../schema/tables.ts'
import { resetType } from './view.ts'

export async function resetChangedView(
  collection: Described,
  { db, clock, changes, config }: Pick<Infrastructure, 'db' | 'clock' | 'changes' | 'config'>,
): Promise<void> {
  const params = [collection.name, hash('sha256', describeView(collection, config), 'hex')]
  // The view of a new collection has no readers yet.
  await db.write({
    sql: `INSERT INTO ${stateTable} (collection, part, hash) VALUES ($1, 'view', $2) ON CONFLICT DO NOTHING`,
    params,
  })
  const [[changed]] = await db.write(
    {
      sql: `UPDATE ${stateTable} SET hash = $2 WHERE collection = $1 AND part = 'view' AND hash <> $2 RETURNING hash`,
      params,
      decides: true,
    },
    logReset(collection, clock.nowIso()),
  )
  if (changed) changes.wake()
}

export function logReset(collection: Described, at: string): Statement {
  return {
    sql: `INSERT INTO changes (topic, type, at, data) VALUES ($1, $2, $3, 'null')`,
    params: [collection.name, resetType(collection), at],
  }
}

/** Everything that decides which rows and values a reader sees. */
function describeView(collection: Described, config: object): string {
  const fields = [...collection.fields.values()].map(({ name, kind, definition: { options, computed } }) => {
    const { readable, default: initial, backfill, scale, was } = options
    return {
      ...{ name, kind, initial, backfill, scale, was, of: computed && String(computed.of) },
      readable: readable && expand(readable, collection),
    }
  })
  const rule = collection.rules?.read as Rule
  // By the feature `users`, which collections know nothing of.
  const { auth } = config as { auth?: { roles?: object } }
  const text = JSON.stringify({ fields, rule: expand(rule, collection) })
  return /"kind":"(can|role)"/.test(text) ? `${text} ${JSON.stringify(auth?.roles)}` : text
}

/** With the rules of other collections that it goes through. */
function expand(rule: Rule, collection: Described): object {
  if ('rules' in rule) return { ...rule, rules: rule.rules.map((each) => expand(each, collection)) }
  if (rule.kind === 'not') return { ...rule, rule: expand(rule.rule, collection) }
  if (rule.kind !== 'through') return rule
  const target = collection.fields.get(rule.relation)?.target as Described
  return { ...rule, rule: expand(target.rules?.[rule.action] as Rule, target) }
}
