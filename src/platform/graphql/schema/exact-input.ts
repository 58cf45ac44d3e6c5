/**
 * Input types whose numbers a resolver checks by rules of its own, as they were written: they reach it whatever their
 * size, so that it can say what is wrong in the words and with the `details` that the REST API has.
 */
import {
  GraphQLFloat,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLScalarType,
  getNullableType,
  isInputObjectType,
  isNonNullType,
  Kind,
  type ValidationContext,
  type ValueNode,
  ValuesOfCorrectTypeRule,
  valueFromAST,
} from 'graphql'
import { rememberExactNumbers } from '../../validation/body-validation.ts'

declare module 'graphql' {
  interface GraphQLInputObjectTypeExtensions {
    checksNumbers?: boolean
  }
}

/** The value of a variable that stands for such a number. */
export class ExactNumber {
  readonly value: number
  readonly written: string

  constructor(value: number, written: string = String(value)) {
    this.value = value
    this.written = written
  }
}

export function findChecking(type: GraphQLInputType | null | undefined): GraphQLInputObjectType | undefined {
  const inner = getNullableType(type)
  return isInputObjectType(inner) && inner.extensions.checksNumbers === true ? inner : undefined
}

export function isNumeric(type: GraphQLInputType): boolean {
  const inner = getNullableType(type)
  return inner === GraphQLInt || inner === GraphQLFloat
}

/** The rule that comes with the package, but for numbers that the resolver checks. */
export function ExactValuesRule(context: ValidationContext) {
  const lenient = Object.create(context, {
    reportError: {
      value(error: Parameters<ValidationContext['reportError']>[0]) {
        const kind = error.nodes?.[0]?.kind
        const type = context.getInputType()
        const isNumber = kind === Kind.INT || kind === Kind.FLOAT
        if (isNumber && type && isNumeric(type) && findChecking(context.getParentInputType())) return
        context.reportError(error)
      },
    },
  }) as ValidationContext
  return ValuesOfCorrectTypeRule(lenient)
}

/** What an argument of such a type is to the interpreter: a scalar that reads its literals itself. */
export function exactArgument(type: GraphQLInputType): GraphQLInputType {
  const inner = findChecking(type)
  if (!inner) return type
  const scalar = new GraphQLScalarType({
    name: inner.name,
    // A variable for all of it is coerced by then.
    parseValue: (value) => value,
    parseLiteral: (node, variables) => readLiteral(inner, node, variables ?? {}),
  })
  return isNonNullType(type) ? new GraphQLNonNull(scalar) : scalar
}

/** Returns undefined where validation should have refused it. */
function readLiteral(
  type: GraphQLInputObjectType,
  node: ValueNode,
  variables: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  if (node.kind !== Kind.OBJECT) return undefined
  const given = new Map(node.fields.map(({ name, value }) => [name.value, value]))
  const written = new Map<string, string>()
  const read: Record<string, unknown> = {}
  for (const field of Object.values(type.getFields())) {
    const own = given.get(field.name)
    const isMissing = !own || (own.kind === Kind.VARIABLE && variables[own.name.value] === undefined)
    if (isMissing) {
      if (field.defaultValue !== undefined) read[field.name] = field.defaultValue
      continue
    }
    const number = isNumeric(field.type) ? exactNumber(own, variables) : undefined
    const value = number ? number.value : valueFromAST(own, field.type, variables)
    if (value === undefined) return undefined
    read[field.name] = value
    if (number) written.set(field.name, number.written)
  }
  rememberExactNumbers(read, written)
  return read
}

function exactNumber(node: ValueNode, variables: Readonly<Record<string, unknown>>): ExactNumber | undefined {
  if (node.kind === Kind.INT || node.kind === Kind.FLOAT) return new ExactNumber(Number(node.value), node.value)
  const value = node.kind === Kind.VARIABLE ? variables[node.name.value] : undefined
  return value instanceof ExactNumber ? value : undefined
}
