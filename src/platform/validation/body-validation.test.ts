import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TObject } from 'typebox'
import { compileBody, markAsForm } from './body-validation.ts'
import { Type } from './schema-builder.ts'

const Order = Type.Object({
  items: Type.Array(
    Type.Object({
      product_id: Type.Integer({ minimum: 1 }),
      quantity: Type.Integer({ minimum: 1, maximum: 10 }),
      note: Type.Optional(Type.String({ maxLength: 5, default: '' })),
    }),
    { minItems: 1, maxItems: 3 },
  ),
  address: Type.Optional(Type.Object({ street: Type.String({ 'x-not-blank': true }), country: Type.String() })),
})

function problemsOf(schema: object, body: unknown): unknown {
  const outcome = compileBody(schema as TObject)(body)
  return 'error' in outcome ? outcome.error.extra?.details : outcome.value
}

test('lists of objects are read field by field, and unknown fields are left out', () => {
  const body = { items: [{ product_id: 1, quantity: 2, color: 'red' }], other: 1 }
  assert.deepEqual(problemsOf(Order, body), { items: [{ product_id: 1, quantity: 2, note: '' }] })
})

test('an optional field that must not be blank may be missing or null', () => {
  const Body = Type.Object({
    text: Type.Optional(Type.String({ 'x-not-blank': true, maxLength: 5 })),
    size: Type.Optional(Type.Integer({ 'x-not-blank': true, default: 3 })),
    title: Type.String({ 'x-not-blank': true }),
  })
  const title = 'x'
  for (const body of [{ title }, { title, text: null, size: null }]) {
    assert.deepEqual(problemsOf(Body, body), { title, size: 3 })
  }
  assert.deepEqual(problemsOf(Body, markAsForm({ title, size: '', text: 'a' })), { title, text: 'a', size: 3 })
  for (const text of ['', ' \t'])
    assert.deepEqual(problemsOf(Body, { text, title: null }), {
      text: ['Must not be blank'],
      title: ['Must not be blank'],
    })
})

test('what is wrong inside is told by its path', () => {
  const items = [{ product_id: 0, quantity: 2 }, { quantity: 11, note: 'too long' }, 'x']
  assert.deepEqual(problemsOf(Order, { items, address: { street: ' ' } }), {
    'items.0.product_id': ['Must be at least 1'],
    'items.1.product_id': ['Must not be blank'],
    'items.1.quantity': ['Must be at most 10'],
    'items.1.note': ['Must be at most 5 characters'],
    'items.2': ['Must be an object'],
    'address.street': ['Must not be blank'],
    'address.country': ['Must not be blank'],
  })
})

test('lists have their lengths, and a long one is refused before its items are looked at', () => {
  assert.deepEqual(problemsOf(Order, { items: [] }), { items: ['Must have at least 1 item'] })
  assert.deepEqual(problemsOf(Order, { items: Array(4).fill('x') }), { items: ['Must have at most 3 items'] })
  for (const items of ['x', {}, 5]) assert.deepEqual(problemsOf(Order, { items }), { items: ['Must be a list'] })
  assert.deepEqual(problemsOf(Order, {}), { items: ['Must not be blank'] })
})

test('a body with thousands of mistakes is told a hundred of them', () => {
  const Many = Type.Object({ numbers: Type.Array(Type.Integer()) })
  const details = problemsOf(Many, { numbers: Array(50_000).fill('x') }) as object
  assert.equal(Object.keys(details).length, 100)
})

const beyond: [title: string, schema: object, good: unknown, bad: unknown, message: string][] = [
  ['enum', { type: 'string', enum: ['a', 'b'] }, 'a', 'c', 'Must be one of a, b'],
  ['pattern', { type: 'string', pattern: '^[A-Z]{3}$' }, 'EUR', 'euro', 'Must match the pattern ^[A-Z]{3}$'],
  ['format', { type: 'string', format: 'email' }, 'a@b.example', 'a', 'Must be a valid email address'],
  ['another format', { type: 'string', format: 'date' }, '2026-01-31', '2026-02-31', 'Must be a valid date'],
  ['const', { const: 5 }, 5, 6, 'Must be 5'],
  ['multipleOf', { type: 'number', multipleOf: 5 }, 10, 7, 'Must be a multiple of 5'],
  ['type of a union', { type: ['string', 'null'] }, 'x', 5, 'Must be a string or null'],
  [
    'union',
    { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }] },
    { a: 'x' },
    5,
    'Has none of the forms that it may have',
  ],
]
for (const [title, schema, good, bad, message] of beyond) {
  test(`what a schema says by ${title} is checked`, () => {
    const body = { type: 'object', properties: { field: schema, more: { type: 'array', items: schema } } }
    assert.deepEqual(problemsOf(body, { field: good, more: [good] }), { field: good, more: [good] })
    assert.deepEqual(problemsOf(body, { field: bad, more: [good, bad] }), {
      field: [message],
      'more.1': [message],
    })
  })
}

test('a text inside a union is one that can be stored', () => {
  const body = { type: 'object', properties: { field: { anyOf: [{ type: 'string' }, { type: 'integer' }] } } }
  assert.deepEqual(problemsOf(body, { field: 'a\0' }), { field: ['Must be valid text'] })
})

test('unknown fields are refused where the schema says so, and repeated items', () => {
  const Closed = Type.Object({ a: Type.Optional(Type.String()) }, { additionalProperties: false })
  assert.deepEqual(problemsOf(Closed, { a: 'x', b: 1 }), { b: ['Is not known'] })
  const Unique = Type.Object({ tags: Type.Array(Type.String(), { uniqueItems: true }) })
  assert.deepEqual(problemsOf(Unique, { tags: ['a', 'a'] }), { tags: ['Must not have an item twice'] })
})

test('a rule that nobody checks stops the start, and is named', () => {
  for (const [property, reason] of [
    [{ type: 'string', maxLenght: 5 }, /the schema of field: .*maxLenght/],
    [{ type: 'array', items: { type: 'string' }, contains: {} }, /the schema of field: nothing checks "contains"/],
    [{ type: 'object', properties: {}, minProperties: 1 }, /the schema of field: nothing checks "minProperties"/],
    [{ type: 'string', format: 'no-such-format' }, /the schema of field: .*no-such-format/],
  ] as const) {
    assert.throws(() => compileBody({ type: 'object', properties: { field: property } } as unknown as TObject), reason)
  }
  assert.throws(
    () => compileBody({ type: 'object', properties: {}, patternProperties: {} } as unknown as TObject),
    /the schema of a body: nothing checks "patternProperties"/,
  )
})

test('a form is text, and its lists are lists of texts', () => {
  const Form = Type.Object({
    stock: Type.Integer(),
    active: Type.Optional(Type.Boolean()),
    roles: Type.Optional(Type.Array(Type.String())),
  })
  assert.deepEqual(problemsOf(Form, markAsForm({ stock: ' 5 ', active: 'on', roles: 'editor' })), {
    stock: 5,
    active: true,
    roles: ['editor'],
  })
})
