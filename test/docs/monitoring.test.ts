/** docs/monitoring.md, the dashboard and the alert rules name the metrics that /metrics has. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { on } from '../../src/platform/events/events.ts'
import { defineFeature } from '../../src/platform/feature.ts'
import { startApi } from '../support/api.ts'
import { onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { signIn } from '../support/people.ts'

const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8')

interface Row {
  name: string
  type: string
  labels: string[]
  meaning: string
}

/** The rows of the tables: name, type, labels, meaning. */
const rows: Row[] = [...read('docs', 'monitoring.md').matchAll(/^\| `(\w+)` \| (\w+) \| (.*?) \| (.*) \|$/gm)].map(
  ([, name = '', type = '', labels = '', meaning = '']) => ({
    name,
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label as string),
    meaning,
  }),
)

/** Its listener and its job have metrics. */
const listening = defineFeature({
  name: 'listening',
  create: () => undefined,
  jobs: { nightly: { at: '03:00', run: () => {} } },
  listeners: () => [on('product.created', { durable: 'listening' }, () => {})],
})

onAnyEngine('the tables of docs/monitoring.md', (engine) => {
  test('have every metric with its type and labels, and no other', async (t) => {
    const env = { BACKUP_FOLDER: temporaryFolder(t), BACKUP_EVERY: '24h' }
    const api = await startApi(t, { engine, env, extensions: [listening] })
    await signIn(api)
    await api.get('/api/v2/products?q=lamp')
    await api.post('/graphql', { query: '{ nope }' })
    const page: string = (await api.get('/metrics')).body
    const types = new Map([...page.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]))
    assert.ok(types.size > 40)
    const other = engine === 'postgres' ? 'SQLite only' : 'PostgreSQL only'
    const expected = rows.filter(({ meaning }) => !meaning.startsWith(other))
    assert.deepEqual(
      expected.map(({ name, type }) => `${name} ${type}`).sort(),
      [...types].map(([name, type]) => `${name} ${type}`).sort(),
    )
    for (const { name, type, labels } of expected) {
      const sample = type === 'histogram' ? `${name}_count` : name
      for (const line of page.split('\n').filter((each) => each.split(/[ {]/)[0] === sample)) {
        const found = [...line.matchAll(/[{,](\w+)="/g)].map(([, label]) => label as string)
        assert.deepEqual(found.sort(), [...labels].sort(), line)
      }
    }
  })
})

const documented = new Set(rows.flatMap(({ name, type }) => (type === 'histogram' ? partsOf(name) : [name])))

function partsOf(histogram: string): string[] {
  return ['bucket', 'sum', 'count'].map((part) => `${histogram}_${part}`)
}

/** The names of metrics in an expression: what remains without strings, labels, ranges, functions and keywords. */
function metricsOf(expression: string): string[] {
  const bare = expression
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring) ?\([^)]*\)/g, ' ')
  return [...bare.matchAll(/[a-z_][a-z0-9_]*(?![a-z0-9_]* *\()/g)]
    .map(([name]) => name)
    .filter((name) => !['and', 'or', 'unless', 'by', 'e'].includes(name))
}

test('names of metrics are found in expressions', () => {
  const expression = 'topk(3, sum by (le, route) (rate(a_bucket{x=~"b.."}[5m]))) / c_total > 0.5 and max(d) == 0'
  assert.deepEqual(metricsOf(expression), ['a_bucket', 'c_total', 'd'])
})

/** Prometheus adds `up` itself. */
const isKnown = (name: string) => name === 'up' || documented.has(name)

test('the alert rules use only metrics that exist', () => {
  const expressions = [...read('deploy', 'alert-rules.yaml').matchAll(/^ +expr: (.*)$/gm)].map(([, each]) => each ?? '')
  assert.ok(expressions.length > 10)
  assert.deepEqual(
    expressions.flatMap(metricsOf).filter((name) => !isKnown(name)),
    [],
  )
})

test('the dashboard uses only metrics that exist, and shows every one of the service itself', () => {
  const dashboard = JSON.parse(read('deploy', 'grafana-dashboard.json'))
  const expressions: string[] = dashboard.panels.flatMap((panel: { targets?: { expr: string }[] }) =>
    (panel.targets ?? []).map(({ expr }) => expr),
  )
  assert.ok(expressions.length > 20)
  const shown = new Set(expressions.flatMap(metricsOf))
  assert.deepEqual(
    [...shown].filter((name) => !isKnown(name)),
    [],
  )
  const own = rows.filter(({ name }) => !/^(process|nodejs)_/.test(name) && !notOnDashboard.includes(name))
  const missing = own.filter(({ name }) => ![name, ...partsOf(name)].some((each) => shown.has(each)))
  assert.deepEqual(
    missing.map(({ name }) => name),
    [],
  )
  const ids = dashboard.panels.map(({ id }: { id: number }) => id)
  assert.equal(new Set(ids).size, ids.length)
})

/** For rules and for looking up, not for a graph. */
const notOnDashboard = [
  'thread_heap_limit_bytes',
  'auth_two_factor_verifications_total',
  'auth_registrations_total',
  'auth_password_resets_total',
]

test('the guide lists the checks of doctor', () => {
  const guide = read('docs', 'monitoring.md')
  const folder = ['src', 'app', 'doctor']
  const files = ['doctor.ts', 'database-checks.ts', 'neighbour-checks.ts', 'backup-checks.ts', 'open-files-check.ts']
  const sources = files.map((file) => read(...folder, file))
  const settings = read('src', 'features', 'set-up', 'production-settings.ts')
  const ids = [...sources, settings].flatMap((source) =>
    [...source.matchAll(/\b(?:id[:=]? ?=? '|judge\('|checkSpace\(')(\w+)'/g)].map(([, id]) => id as string),
  )
  assert.ok(ids.length > 25, String(ids))
  assert.deepEqual(
    ids.filter((id) => !guide.includes(`\`${id}\``)),
    [],
  )
})
