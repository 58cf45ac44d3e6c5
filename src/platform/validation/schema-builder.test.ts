import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type as TypeBox } from 'typebox'
import { Type } from './schema-builder.ts'

const options = { description: 'Told', default: 1 }

/** Each schema, built by TypeBox and by this module. */
function make(type: typeof Type): Record<string, object> {
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
