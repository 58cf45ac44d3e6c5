/** What two features both add stops the start, with one line that names both. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withOwnFeatures } from '../../src/app/features.ts'
import { key } from '../../src/config/key.ts'
import { integer } from '../../src/config/readers.ts'
import { exitCodes, FatalError } from '../../src/core/fatal-error.ts'
import { defineCommand } from '../../src/platform/command-line/command.ts'
import { defineEvent } from '../../src/platform/events/events.ts'
import { type AnyDefinition, defineFeature } from '../../src/platform/feature.ts'
import { inputType, objectType, query, subscription } from '../../src/platform/graphql/schema/elements.ts'
import { startApi } from '../support/api.ts'
import { temporaryFolder } from '../support/databases.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { writeMigrations } from '../support/migrations.ts'

type Additions = Omit<Partial<AnyDefinition>, 'name' | 'create'>

const make = (name: string, additions: Additions) => defineFeature({ name, create: () => undefined, ...additions })

const ping = query({ name: 'ping', type: 'Int', access: 'public', resolve: () => 1 })
const pinged = subscription({ name: 'pinged', type: 'Int', access: 'public', async *subscribe() {} })
const port = integer({ min: 1, max: 9 })
const route = (path: string) => (): ReturnType<NonNullable<AnyDefinition['routes']>> => (app) =>
  void app.get(path, { config: { access: 'public', docs: false } }, async () => 'x')
const page = (path: string): Additions => ({ pages: () => ({ routes: route(path) }) })

/** What the first has, what the second has, and what both want. */
const clashes: readonly [additions: Additions, others: Additions, what: string][] = [
  [{ elements: () => [ping] }, { elements: () => [ping] }, 'GraphQL query ping'],
  [
    { elements: () => [objectType({ name: 'Thing', fields: { id: 'ID' } }), ping] },
    { elements: () => [inputType({ name: 'Thing', fields: { id: 'ID' } })] },
    'GraphQL type Thing',
  ],
  [
    { pages: () => ({ liveElements: [pinged] }) },
    { pages: () => ({ liveElements: [pinged] }) },
    'console GraphQL subscription pinged',
  ],
  [{ routes: route('/api/things/:id') }, { routes: route('/api/things/:key') }, 'route GET /api/things/:key'],
  [page('/things'), page('/things'), 'route GET /console/things'],
  [{ routes: route('/console/things') }, page('/things'), 'route GET /console/things'],
  [
    { pages: () => ({ navigation: [{ path: '/console/things', name: 'Things' }] }) },
    { pages: () => ({ navigation: [{ path: '/console/things', name: 'More things' }] }) },
    'navigation entry /console/things',
  ],
  [
    { pages: () => ({ notices: { saved: 'Saved.' } }) },
    { pages: () => ({ notices: { saved: 'Kept.' } }) },
    'notice saved',
  ],
  [{ policies: { things: {} } }, { policies: { things: {} } }, 'policy things'],
  [
    { config: { one: key('things.most', port, 1) } },
    { config: { other: key('things.most', port, 1) } },
    'configuration key things.most',
  ],
  [
    { config: { one: key('things.most', port, 1, 'MOST') } },
    { config: { other: key('things.max', port, 1, 'MOST') } },
    'environment variable MOST',
  ],
  [
    { commands: [defineCommand({ name: 'things:count', describe() {}, async run() {} })] },
    { commands: [defineCommand({ name: 'things:count', describe() {}, async run() {} })] },
    'command things:count',
  ],
  [{ auditEvents: { counted: 'Counted' } }, { auditEvents: { counted: 'Numbered' } }, 'audit event counted'],
  [{ events: [defineEvent('Counted')] }, { events: [defineEvent('Counted')] }, 'event Counted'],
]

for (const [additions, others, what] of clashes) {
  test(`two features with the same ${what} stop the start, by their names`, async (t) => {
    const extensions = [make('one', additions), make('other', others)]
    await assert.rejects(startApi(t, { extensions }), refusal(`feature other: the ${what} is taken by one`))
  })
}

test('what the service has itself is taken, too, whether it is added before or after', async (t) => {
  for (const [additions, reason] of [
    [{ routes: route('/health/live') }, 'route GET /health/live is taken by latchkey'],
    [{ routes: route('/graphql') }, 'route GET /graphql is taken by latchkey'],
    [{ routes: route('/me') }, 'route GET /me is taken by users'],
    [page('/account'), 'route GET /console/account is taken by console'],
    [{ elements: () => [{ ...ping, name: 'me' }] }, 'GraphQL query me is taken by users'],
    [
      { commands: [defineCommand({ name: 'start', describe() {}, async run() {} })] },
      'command start is taken by latchkey',
    ],
    [{ config: { x: key('x.y', port, 1, 'PORT') } }, 'environment variable PORT is taken by latchkey'],
  ] as const satisfies readonly (readonly [Additions, string])[]) {
    await assert.rejects(startApi(t, { extensions: [make('mine', additions)] }), refusal(`feature mine: the ${reason}`))
  }
})

test('a route without access stops the start with the name of its feature', async (t) => {
  const extensions = [make('mine', { routes: () => async (app) => void app.get('/mine', async () => ({})) })]
  await assert.rejects(
    startApi(t, { extensions }),
    refusal('feature mine: these routes declare no access: GET /mine; HEAD /mine'),
  )
})

test('a feature that fails while the service starts is named', async (t) => {
  const fail = () => {
    throw new Error('no luck')
  }
  for (const additions of [{ create: fail }, { routes: fail }, { start: fail }]) {
    const extension = defineFeature({ name: 'mine', create: () => undefined, ...additions })
    await assert.rejects(startApi(t, { extensions: [extension] }), { message: 'feature mine: no luck' })
  }
})

test('every command that --help lists is taken', async () => {
  const { stdout } = await runLoaded(['--help'])
  const names = [...stdout.matchAll(/^ {2}([a-z][\w:-]*)/gm)].map(([, name]) => name as string)
  assert.ok(names.includes('doctor') && names.includes('user:list') && names.includes('help'), stdout)
  for (const name of names) {
    const mine = make('mine', { commands: [defineCommand({ name, describe() {}, async run() {} })] })
    assert.throws(
      () => withOwnFeatures([mine]),
      (error: FatalError) => error.message.startsWith(`feature mine: the command ${name} is taken by `),
      name,
    )
  }
})

test('two features of one name are refused; their migrations would be one', async (t) => {
  const migrations = writeMigrations(temporaryFolder(t), { '0001-things': 'CREATE TABLE things (id INTEGER);' })
  const extensions = [make('one', { migrations }), make('one', { migrations })]
  await assert.rejects(startApi(t, { extensions }), refusal('feature one: the name one is taken by one'))
})

function refusal(line: string) {
  return (error: unknown) => {
    assert.ok(error instanceof FatalError, String(error))
    assert.deepEqual([error.lines, error.exitCode], [[line], exitCodes.configuration])
    return true
  }
}
