import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fastify } from 'fastify'
import { type Static, type TObject, Type as TypeBox } from 'typebox'
import { compileBody, compileTexts, requireValid } from './body-validation.ts'
import { Type, type Validated } from './schema-builder.ts'

const options = { description: 'Told', default: 1 }

/** Each schema, built by TypeBox and by this module. */
function make(type: Pick<typeof TypeBox, keyof typeof Type>): Record<string, object> {
  const properties = { one: type.String(), two: type.Optional(type.Integer({ minimum: 1 })) }
  return {
    array: type.Array(type.String(), options),
    boolean: type.Boolean(options),
    integer: type.Integer(options),
    literal: type.Literal('x', options),
    literalOfNumber: type.Literal(1),
    literalOfBoolean: type.Literal(true),
    null: type.Null(options),
    number: type.Number(options),
    object: type.Object(properties, options),
    objectOfNothingNeeded: type.Object({ two: properties.two }),
    optional: properties.two,
    record: type.Record(type.String(), type.Number(), options),
    string: type.String(options),
    union: type.Union([type.Null(), type.String()], options),
    unknown: type.Unknown(options),
  }
}

test('every schema is the one that TypeBox makes, with what it hides', () => {
  const [ours, theirs] = [make(Type), make(TypeBox)]
  assert.equal(JSON.stringify(ours), JSON.stringify(theirs))
  for (const [name, schema] of Object.entries(ours)) {
    assert.deepEqual(Object.getOwnPropertyDescriptors(schema), Object.getOwnPropertyDescriptors(theirs[name]), name)
  }
})

test('what either makes fits into what the other makes', () => {
  const required = (schema: object) => (schema as { required?: string[] }).required
  assert.deepEqual(required(Type.Object({ a: TypeBox.String(), b: TypeBox.Optional(TypeBox.String()) })), ['a'])
  assert.deepEqual(required(TypeBox.Object({ a: Type.String(), b: Type.Optional(Type.String()) })), ['a'])
})

/** Compiles only where both types are the same. */
function requireSame<One, Other>(
  ..._same: (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? [] : ['not the same type']
): void {}

test('a validated body has its type from the schema: what has a default is there', () => {
  const Body = Type.Object({
    name: Type.String({ maxLength: 9 }),
    note: Type.Optional(Type.String()),
    size: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
    ratio: Type.Optional(Type.Number({ default: 0.5 })),
    isOn: Type.Optional(Type.Boolean({ default: false })),
    tags: Type.Optional(Type.Array(Type.String(), { default: [] })),
    kind: Type.Union([Type.Literal('a'), Type.Literal('b')]),
    items: Type.Array(
      Type.Object({ id: Type.Integer(), count: Type.Optional(Type.Integer({ default: 1 })) }, { title: 'Item' }),
      { minItems: 1 },
    ),
  })
  interface Given {
    name: string
    note?: string
    size: number
    ratio: number
    isOn: boolean
    tags: string[]
    kind: 'a' | 'b'
    items: { id: number; count: number }[]
  }
  requireSame<Validated<typeof Body>, { [Name in keyof Given]: Given[Name] }>()
  requireSame<Static<typeof Body>['size'], number | undefined>()
  requireSame<Validated<undefined>, unknown>()
  // The type tells the truth: this is what comes out.
  const given = { name: 'x', kind: 'b', items: [{ id: 1 }] }
  const value: Given = requireValid(compileBody(Body), given)
  const added = { size: 1, ratio: 0.5, isOn: false, tags: [], items: [{ id: 1, count: 1 }] }
  assert.deepEqual(value, { ...given, ...added })
})

test('the handler of a route gets body, parameters and query by their schemas, without naming a type', async (t) => {
  const app = fastify()
  t.after(() => app.close())
  app.setValidatorCompiler(({ schema }) => compileTexts(schema as TObject))
  app.post(
    '/:id',
    {
      schema: {
        params: Type.Object({ id: Type.Integer() }),
        querystring: Type.Object({ limit: Type.Optional(Type.Integer({ default: 20 })) }),
        body: Type.Object({ text: Type.String() }),
      },
    },
    async ({ params, query, body }) => {
      requireSame<typeof params, { id: number }>()
      requireSame<typeof query, { limit: number }>()
      requireSame<typeof body, { text: string }>()
      return { ...params, ...query, ...body }
    },
  )
  app.get('/', async ({ body }) => {
    requireSame<typeof body, unknown>()
  })
  const sent = await app.inject({ method: 'POST', url: '/7', payload: { text: 'x' } })
  assert.deepEqual(sent.json(), { id: 7, limit: 20, text: 'x' })
})
