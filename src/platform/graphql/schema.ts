/**
 * Assembles the elements to a schema: their types are written down in the schema language, then each field gets its
 * resolver. What does not fit together stops the start-up, by the element's name.
 */
import {
  buildSchema,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  parseType,
  specifiedScalarTypes,
  type TypeNode,
} from 'graphql'
import { reasonOf } from '../../core/reason.ts'
import type { Argument, Context, Element, Field } from './elements.ts'
import type { Guards } from './guards.ts'
import { createLoading } from './loading.ts'

export type RootElement = Extract<Element, { kind: 'query' | 'mutation' | 'subscription' }>

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The element behind a field of Query, Mutation or Subscription. */
    element?: RootElement
    size?: (args: Record<string, unknown>) => number
  }
}

const rootTypes = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' } as const

export function createSchema(elements: readonly Element[], guards: Guards): GraphQLSchema {
  requireUniqueNames(elements)
  requireKnownTypes(elements)
  const schema = build(elements)
  for (const element of elements) {
    if (element.kind === 'input') continue
    try {
      if (element.kind === 'object') addResolvers(schema, element, guards)
      else addRoot(schema, element, guards)
    } catch (error) {
      throw broken(element, reasonOf(error))
    }
  }
  return schema
}

function addRoot(schema: GraphQLSchema, element: RootElement, guards: Guards): void {
  const field = fieldOf(schema, rootTypes[element.kind], element.name)
  Object.assign(field, guards.guardRoot(element))
  field.extensions = { element, ...(element.size && { size: element.size }) }
}

function addResolvers(schema: GraphQLSchema, element: Extract<Element, { kind: 'object' }>, guards: Guards): void {
  for (const [name, given] of Object.entries(element.fields)) {
    if (typeof given === 'string') continue
    const field = fieldOf(schema, element.name, name)
    const { access, size } = given as Field
    const resolve = guards.guardField({ access, resolve: resolverOf(given as Field) })
    if (resolve) field.resolve = resolve
    if (size) field.extensions = { size }
  }
}

function resolverOf(field: Field): GraphQLField<unknown, Context>['resolve'] {
  if (field.load) return createLoading(field.load)
  // The types of sources and arguments are those of whoever wrote the element.
  return field.resolve && ((source, args, context) => field.resolve?.(source as never, args as never, context))
}

function fieldOf(schema: GraphQLSchema, type: string, name: string): GraphQLField<unknown, Context> {
  return (schema.getType(type) as GraphQLObjectType).getFields()[name] as GraphQLField<unknown, Context>
}

function requireUniqueNames(elements: readonly Element[]): void {
  const taken = new Set<string>([...Object.values(rootTypes), ...specifiedScalarTypes.map(({ name }) => name)])
  for (const element of elements) {
    const name = isRoot(element) ? `${rootTypes[element.kind]}.${element.name}` : element.name
    if (taken.has(name)) throw broken(element, 'the name is taken')
    taken.add(name)
  }
}

function requireKnownTypes(elements: readonly Element[]): void {
  const names = elements.filter((element) => !isRoot(element)).map(({ name }) => name)
  const known = new Set([...names, ...specifiedScalarTypes.map(({ name }) => name)])
  for (const element of elements) {
    for (const [part, type] of typesOf(element)) {
      const name = namedType(element, part, type)
      if (!known.has(name)) throw broken(element, `the type ${name} of ${part} is unknown`)
    }
  }
}

/** Every type that an element refers to, with what it is the type of. */
function typesOf(element: Element): [part: string, type: string][] {
  const argumentsOf = (args: Readonly<Record<string, Argument>> = {}): [string, string][] =>
    Object.entries(args).map(([name, argument]) => [name, typeof argument === 'string' ? argument : argument.type])
  if (isRoot(element)) return [[element.name, element.type], ...argumentsOf(element.args)]
  if (element.kind === 'input') return argumentsOf(element.fields)
  return Object.entries(element.fields).flatMap(([name, field]): [string, string][] =>
    typeof field === 'string'
      ? [[name, field]]
      : [[name, (field as Field).type], ...argumentsOf((field as Field).args)],
  )
}

function namedType(element: Element, part: string, text: string): string {
  try {
    let type: TypeNode = parseType(text)
    while (type.kind !== 'NamedType') type = type.type
    return type.name.value
  } catch (error) {
    throw broken(element, `the type of ${part} cannot be read: ${reasonOf(error)}`)
  }
}

function build(elements: readonly Element[]): GraphQLSchema {
  const roots = Object.entries(rootTypes).map(([kind, name]) => {
    const own = elements.filter((element): element is RootElement => element.kind === kind)
    return own.length === 0 ? '' : write('type', { name, fields: own.map((each) => [each.name, each]) })
  })
  const types = elements
    .filter((element) => !isRoot(element))
    .map(({ kind, name, description, fields }) =>
      write(kind === 'object' ? 'type' : 'input', { name, description, fields: Object.entries(fields) }),
    )
  // Each text was read by itself before: what is wrong now is how they go together, which the message names.
  return buildSchema([...roots, ...types].join('\n'))
}

interface Written {
  name: string
  description?: string | undefined
  fields: readonly [name: string, type: string | (Field | RootElement | Exclude<Argument, string>)][]
}

function write(keyword: 'type' | 'input', { name, description, fields }: Written): string {
  const lines = fields.map(([field, given]) => {
    if (typeof given === 'string') return `${field}: ${given}`
    const args = 'args' in given && given.args ? Object.entries(given.args) : []
    const list = args.map(([argument, type]) => writeArgument(argument, type)).join(', ')
    const own =
      args.length > 0 ? `${field}(${list}): ${given.type}` : writeArgument(field, { ...given, description: '' })
    return `${writeDescription(given.description)}${own}`
  })
  return `${writeDescription(description)}${keyword} ${name} {\n${lines.join('\n')}\n}`
}

function writeArgument(name: string, argument: Argument): string {
  if (typeof argument === 'string') return `${name}: ${argument}`
  const value = argument.default === undefined ? '' : ` = ${JSON.stringify(argument.default)}`
  return `${writeDescription(argument.description)}${name}: ${argument.type}${value}`
}

function writeDescription(text: string | undefined): string {
  return text ? `${JSON.stringify(text)}\n` : ''
}

function isRoot(element: Element): element is RootElement {
  return Object.hasOwn(rootTypes, element.kind)
}

function broken({ kind, name }: Element, problem: string): Error {
  return new Error(`the GraphQL element ${kind} ${name}: ${problem}`)
}
