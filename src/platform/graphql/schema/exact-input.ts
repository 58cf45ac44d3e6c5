/**
 * Input types with `checksNumbers`: their numbers reach the resolver whatever their size, with the literals that the
 * client sent, so that its errors have the messages and `details` of the REST API.
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

/** The value of a variable that is used only for such numbers. */
export class ExactNumber {
  readonly value: number
  readonly literal: string

  constructor(value: number, literal: string = String(value)) {
    this.value = value
    this.literal = literal
  }
}

export function findExactInput(type: GraphQLInputType | null | undefined): GraphQLInputObjectType | undefined {
  const inner = getNullableType(type)
  return isInputObjectType(inner) && inner.extensions.checksNumbers === true ? inner : undefined
}

export function isNumeric(type: GraphQLInputType): boolean {
  const inner = getNullableType(type)
  return inner === GraphQLInt || inner === GraphQLFloat
}

/** ValuesOfCorrectTypeRule, except for numbers that the resolver checks. */
export function ExactValuesRule(context: ValidationContext) {
  const lenient = Object.create(context, {
    reportError: {
      value(error: Parameters<ValidationContext['reportError']>[0]) {
        const kind = error.nodes?.[0]?.kind
        const type = context.getInputType()
        const isNumber = kind === Kind.INT || kind === Kind.FLOAT
        if (isNumber && type && isNumeric(type) && findExactInput(context.getParentInputType())) return
        context.reportError(error)
      },
    },
  }) as ValidationContext
  return ValuesOfCorrectTypeRule(lenient)
}

/** Replaces such an argument type, for the interpreter, by a scalar that parses its own literals. */
export function exactArgument(type: GraphQLInputType): GraphQLInputType {
  const inner = findExactInput(type)
  if (!inner) return type
  const scalar = new GraphQLScalarType({
    name: inner.name,
    // Variables have been coerced before.
    parseValue: (value) => value,
    parseLiteral: (node, variables) => readLiteral(inner, node, variables ?? {}),
  })
  return isNonNullType(type) ? new GraphQLNonNull(scalar) : scalar
}

/** Returns undefined for literals that validation rejects. */
function readLiteral(
  type: GraphQLInputObjectType,
  node: ValueNode,
  variables: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  if (node.kind !== Kind.OBJECT) return undefined
  const nodes = new Map(node.fields.map(({ name, value }) => [name.value, value]))
  const literals = new Map<string, string>()
  const read: Record<string, unknown> = {}
  for (const field of Object.values(type.getFields())) {
    const own = nodes.get(field.name)
    const isMissing = !own || (own.kind === Kind.VARIABLE && variables[own.name.value] === undefined)
    if (isMissing) {
      if (field.defaultValue !== undefined) read[field.name] = field.defaultValue
      continue
    }
    const number = isNumeric(field.type) ? exactNumber(own, variables) : undefined
    const value = number ? number.value : valueFromAST(own, field.type, variables)
    if (value === undefined) return undefined
    read[field.name] = value
    if (number) literals.set(field.name, number.literal)
  }
  rememberExactNumbers(read, literals)
  return read
}

function exactNumber(node: ValueNode, variables: Readonly<Record<string, unknown>>): ExactNumber | undefined {
  if (node.kind === Kind.INT || node.kind === Kind.FLOAT) return new ExactNumber(Number(node.value), node.value)
  const value = node.kind === Kind.VARIABLE ? variables[node.name.value] : undefined
  return value instanceof ExactNumber ? value : undefined
}
