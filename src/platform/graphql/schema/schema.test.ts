import assert from 'node:assert/strict'
import { test } from 'node:test'
import { execute, parse, printSchema } from 'graphql'
import type { Policies } from '../../access/authorize.ts'
import type { Principal } from '../../access/route-guards.ts'
import { type Context, type Element, mutation, objectType, query, subscription } from './elements.ts'
import { createGuards } from './guards.ts'
import { createSchema } from './schema.ts'

const policies: Policies<Principal> = {
  requireKnown(policy, action) {
    if (policy !== 'notes') throw new Error(`there is no policy ${policy}.${action}`)
  },
  allow: async ({ user, entity }) => user?.id === (entity as { owner: number }).owner,
}
const assemble = (...elements: Element[]) => createSchema([base, ...elements], createGuards(policies))
const base = query({ name: 'ping', type: 'String', access: 'public', resolve: () => 'pong' })
const context: Context = { principal: undefined, client: { address: '', userAgent: '' }, log: { error() {} } }

async function run(schema: ReturnType<typeof assemble>, text: string, contextValue: Context = context) {
  const { data, errors } = await execute({ schema, document: parse(text), contextValue })
  return { data: JSON.parse(JSON.stringify(data ?? null)), errors: errors?.map(({ message }) => message) }
}

test('types, arguments with defaults and descriptions are printed as declared', () => {
  const schema = assemble(
    objectType({
      name: 'Note',
      description: 'A "note".',
      fields: { id: 'ID!', text: { type: 'String', description: 'Its\ntext.' } },
    }),
    query({
      name: 'notes',
      type: '[Note!]!',
      args: { limit: { type: 'Int', default: 10 }, tag: 'String' },
      access: 'public',
    }),
    subscription({ name: 'noted', type: 'Note', access: 'public', async *subscribe() {} }),
  )
  assert.equal(
    printSchema(schema),
    `type Query {
  ping: String
  notes(limit: Int = 10, tag: String): [Note!]!
}

type Subscription {
  noted: Note
}

"""A "note"."""
type Note {
  id: ID!

  """
  Its
  text.
  """
  text: String
}`,
  )
})

for (const [title, elements, message] of [
  ['a query with a name that is taken', [base], /query ping: the name is taken/],
  [
    'a type with a name that is taken',
    [objectType({ name: 'Note', fields: { id: 'ID' } }), objectType({ name: 'Note', fields: { id: 'ID' } })],
    /object Note: the name is taken/,
  ],
  [
    'a type named like a scalar',
    [objectType({ name: 'String', fields: { id: 'ID' } })],
    /object String: the name is taken/,
  ],
  [
    'an unknown type',
    [query({ name: 'a', type: '[Nothing!]', access: 'public' })],
    /query a: the type Nothing of a is unknown/,
  ],
  [
    'an unknown type of a field',
    [objectType({ name: 'Note', fields: { author: { type: 'Person' } } })],
    /object Note: the type Person of author is unknown/,
  ],
  [
    'an unknown type of an argument',
    [mutation({ name: 'make', type: 'Int', args: { input: 'Missing!' }, access: 'public' })],
    /mutation make: the type Missing of input is unknown/,
  ],
  [
    'a type that cannot be parsed',
    [query({ name: 'a', type: '[Int', access: 'public' })],
    /query a: the type of a cannot be read/,
  ],
  [
    'an element without access',
    [{ kind: 'query', name: 'a', type: 'Int' } as Element],
    /query a: it declares no access/,
  ],
  [
    'an element with an empty list of requirements',
    [query({ name: 'a', type: 'Int', access: [] })],
    /query a: it declares no access/,
  ],
  [
    'an unknown policy',
    [mutation({ name: 'a', type: 'Int', access: { policy: 'none', action: 'view', entity: async () => 1 } })],
    /mutation a: there is no policy none.view/,
  ],
  [
    'an unknown policy of a field',
    [
      objectType({
        name: 'Note',
        fields: { a: { type: 'Int', access: { policy: 'none', action: 'x', entity: async () => 1 } } },
      }),
    ],
    /object Note: there is no policy none.x/,
  ],
] as [string, Element[], RegExp][]) {
  test(`${title} aborts the start-up and names the element`, () => {
    assert.throws(() => assemble(...elements), message)
  })
}

test('a query without a resolver resolves to an empty object, whose fields resolve themselves', async () => {
  const schema = assemble(
    objectType({ name: 'Status', fields: { isUp: { type: 'Boolean', resolve: () => true } } }),
    query({ name: 'status', type: 'Status', access: 'public' }),
  )
  assert.deepEqual((await run(schema, '{ status { isUp } }')).data, { status: { isUp: true } })
})

test('a field with `load` is loaded once for a whole list', async () => {
  const loaded: number[][] = []
  const schema = assemble(
    objectType<{ id: number }>({
      name: 'Note',
      fields: {
        id: 'Int',
        length: {
          type: 'Int',
          async load(notes) {
            loaded.push(notes.map(({ id }) => id))
            return notes.map(({ id }) => id * 10)
          },
        },
      },
    }),
    query({ name: 'notes', type: '[Note]', access: 'public', resolve: () => [{ id: 1 }, { id: 2 }, { id: 3 }] }),
  )
  const { data } = await run(schema, '{ notes { length } }')
  assert.deepEqual(data, { notes: [{ length: 10 }, { length: 20 }, { length: 30 }] })
  assert.deepEqual(loaded, [[1, 2, 3]])
})

test('requirements of queries, fields and policies are checked before anything is resolved', async () => {
  const user = (id: number, ...roles: string[]) =>
    ({
      ...context,
      principal: { id, hasRole: (role: string) => roles.includes(role), can: () => false },
    }) as unknown as Context
  const resolved: string[] = []
  const schema = assemble(
    objectType({
      name: 'Note',
      fields: {
        text: 'String',
        secret: { type: 'String', access: { role: 'admin' } },
      },
    }),
    query({
      name: 'note',
      type: 'Note',
      args: { owner: 'Int!' },
      access: [
        'authenticated',
        { policy: 'notes', action: 'view', entity: async (args) => ({ ...args, text: 'hi', secret: 's' }) },
      ],
      resolve(_args, _context, { entity }) {
        resolved.push('note')
        return entity
      },
    }),
  )
  assert.deepEqual(await run(schema, '{ note(owner: 1) { text } }'), {
    data: { note: null },
    errors: ['Missing access token'],
  })
  assert.deepEqual((await run(schema, '{ note(owner: 1) { text } }', user(2))).errors, ['Forbidden'])
  assert.deepEqual(resolved, [])
  assert.deepEqual((await run(schema, '{ note(owner: 1) { text } }', user(1))).data, { note: { text: 'hi' } })
  const secret = '{ note(owner: 1) { text secret } }'
  assert.deepEqual(await run(schema, secret, user(1)), {
    data: { note: { text: 'hi', secret: null } },
    errors: ['Forbidden'],
  })
  assert.deepEqual((await run(schema, secret, user(1, 'admin'))).data, { note: { text: 'hi', secret: 's' } })
})
