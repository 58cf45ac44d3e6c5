/** Compares the database with what was acknowledged, while nobody writes. Returns what is wrong. */
import type { Reader, Row } from './reader.ts'
import { type Expected, valuesOf } from './writer.ts'

export async function findDifferences(reader: Reader, expected: Expected): Promise<string[]> {
  return [
    ...(await productDifferences(reader, expected)),
    ...(await peopleDifferences(reader, expected)),
    ...(await roleDifferences(reader)),
    ...(await countDifferences(reader)),
  ]
}

async function productDifferences({ rows }: Reader, { products }: Expected): Promise<string[]> {
  const stored = await rows(
    `SELECT id, name, description, price_cents, category, stock, version,
            CASE WHEN deleted_at IS NULL THEN 0 ELSE 1 END AS deleted FROM products`,
  )
  const found = byId(stored, ({ name, description, price_cents, category, stock, version, deleted }) =>
    [name, description, Number(price_cents), category, stock, Number(version), deleted].join('|'),
  )
  const wanted = new Map(
    [...products].map(([id, product]) => {
      const { name, description, price, category, stock } = valuesOf(product)
      const values = [name, description, Math.round(price * 100), category, stock, product.version]
      return [id, [...values, product.isDeleted ? 1 : 0].join('|')]
    }),
  )
  const [keys] = await rows(
    `SELECT count(*) AS all_keys, count(DISTINCT p.id) AS with_product
     FROM idempotency_keys k LEFT JOIN products p ON p.id = k.product_id`,
  )
  const counts = [Number(keys?.all_keys), Number(keys?.with_product)]
  return [
    ...differences('product', wanted, found),
    // Each product was made with a key of its own.
    ...(counts.every((n) => n === stored.length) ? [] : [`${stored.length} products, keys and theirs: ${counts}`]),
  ]
}

/** Each act has its line in the audit trail, and each line its act. */
async function peopleDifferences({ rows }: Reader, { people }: Expected): Promise<string[]> {
  const users = await rows('SELECT id, email, roles FROM users')
  const sessions = await rows(
    'SELECT user_id AS id, count(*) AS n, count(revoked_at) AS revoked FROM sessions GROUP BY 1',
  )
  const lines = await rows(
    `SELECT user_id AS id, event, outcome, count(*) AS n FROM audit
     WHERE event IN ('register', 'login', 'refresh') GROUP BY 1, 2, 3`,
  )
  const sessionsOf = byId(sessions, ({ n }) => Number(n))
  const written = new Map(lines.map(({ id, event, outcome, n }) => [`${id} ${event} ${outcome}`, Number(n)]))
  const problems = differences(
    'user',
    new Map([...people].map(([id, { email, roles }]) => [id, `${email} ${JSON.stringify(roles)}`])),
    byId(users, ({ email, roles }) => `${email} ${roles}`),
  )
  for (const { id, revoked } of sessions) if (Number(revoked) > 0) problems.push(`sessions of user ${id} were revoked`)
  for (const [id, { logins, refreshes }] of people) {
    const n = (event: string) => written.get(`${id} ${event} success`) ?? 0
    const has = {
      registered: n('register'),
      logins: n('login'),
      sessions: sessionsOf.get(id) ?? 0,
      refreshes: n('refresh'),
    }
    const isRight =
      has.registered === 1 &&
      // A login that was not answered may have been made.
      has.logins >= logins &&
      has.sessions === has.logins &&
      has.refreshes === refreshes
    if (!isRight) problems.push(`user ${id} has ${JSON.stringify(has)}, not ${JSON.stringify({ logins, refreshes })}`)
  }
  for (const { id, event, outcome } of lines) {
    if (!people.has(Number(id)) || outcome !== 'success')
      problems.push(`the audit trail has ${event} ${outcome} of user ${id}`)
  }
  return problems
}

/** Each change of roles begins where the one before ended, and the last is what the user has. */
async function roleDifferences({ rows }: Reader): Promise<string[]> {
  const users = await rows('SELECT id, roles FROM users')
  const lines = await rows("SELECT user_id AS id, changes FROM audit WHERE event = 'roles_changed' ORDER BY audit.id")
  const problems: string[] = []
  const last = new Map<number, string>()
  for (const { id, changes } of lines) {
    const { from, to } = JSON.parse(String(changes)).roles
    const before = last.get(Number(id))
    if (before !== undefined && before !== JSON.stringify(from)) problems.push(`user ${id}: ${before}, then ${changes}`)
    last.set(Number(id), JSON.stringify(to))
  }
  const stored = byId(users, ({ roles }) => String(roles))
  for (const [id, roles] of last) {
    if (stored.get(id) !== roles) problems.push(`user ${id} has ${stored.get(id)}, but the audit trail ${roles}`)
  }
  return problems
}

/** Maintained counts are those of the rows. */
async function countDifferences({ rows }: Reader): Promise<string[]> {
  const kept = await rows('SELECT list, sum(live) AS n FROM current_counts WHERE level = 21 GROUP BY list')
  const problems: string[] = []
  for (const list of ['users', 'audit', 'products']) {
    const where = list === 'products' ? 'WHERE deleted_at IS NULL' : ''
    const [counted] = await rows(`SELECT count(*) AS n FROM ${list} ${where}`)
    const maintained = Number(kept.find((row) => row.list === list)?.n ?? 0)
    if (maintained !== Number(counted?.n)) problems.push(`${list}: ${counted?.n} rows, counted as ${maintained}`)
  }
  return problems
}

function byId<T>(rows: readonly Row[], read: (row: Row) => T): Map<number, T> {
  return new Map(rows.map((row) => [Number(row.id), read(row)]))
}

function differences(name: string, wanted: ReadonlyMap<number, string>, found: ReadonlyMap<number, string>): string[] {
  const ids = new Set([...wanted.keys(), ...found.keys()])
  return [...ids]
    .filter((id) => wanted.get(id) !== found.get(id))
    .map((id) => `${name} ${id} is ${found.get(id) ?? 'missing'}, not ${wanted.get(id) ?? 'there'}`)
}
