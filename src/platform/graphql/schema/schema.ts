/**
 * Assembles elements into a schema: prints their types in the schema definition language, then attaches resolvers.
 * Errors name the element and abort the start-up.
 */
import {
  buildASTSchema,
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
  parse,
  parseType,
  specifiedScalarTypes,
  type TypeNode,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import { errorMessage } from '../../../core/error-message.ts'
import { once } from '../../../core/once.ts'
import {
  type AdaptResolver,
  adaptForCompiler,
  adaptForInterpreter,
  type Resolver,
  readProperty,
} from './adapt-resolvers.ts'
import type { Argument, Context, Element, Field, RootElement } from './elements.ts'
import { exactArgument } from './exact-input.ts'
import { createFieldLoader } from './field-loader.ts'
import type { Guards } from './guards.ts'

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The element behind a field of Query, Mutation or Subscription. */
    element?: RootElement
    size?: (args: Record<string, unknown>) => number
  }
}

const rootTypes = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' } as const

/** The scalar that all variables have for the executors, which receive coerced values. */
export const coercedType = '_Coerced'

export interface Schemas {
  /** For introspection and validation. */
  readonly public: GraphQLSchema
  /** For graphql-js. Variables of coercedType are passed through. */
  readonly interpreted: GraphQLSchema
  /** For graphql-jit, likewise. */
  readonly compiled: GraphQLSchema
}

/** Each is made when it is needed. The public one finds what is wrong with the elements. */
export function createSchemas(elements: readonly Element[], guards: Guards): Schemas {
  const scalars = [coercedType]
  const interpreted = once(() => withExactArguments(create(elements, { guards, adapt: adaptForInterpreter, scalars })))
  const compiled = once(() => create(elements, { guards, adapt: adaptForCompiler, scalars }))
  const open = once(() => createSchema(elements, guards))
  return {
    get public() {
      return open()
    },
    get interpreted() {
      return interpreted()
    },
    get compiled() {
      return compiled()
    },
  }
}

export function createSchema(elements: readonly Element[], guards: Guards): GraphQLSchema {
  return create(elements, { guards, adapt: adaptForInterpreter, scalars: [] })
}

function withExactArguments(schema: GraphQLSchema): GraphQLSchema {
  for (const root of [schema.getQueryType(), schema.getMutationType()]) {
    for (const { args } of Object.values(root?.getFields() ?? {})) {
      for (const argument of args as GraphQLArgument[]) argument.type = exactArgument(argument.type)
    }
  }
  return schema
}

interface CreateOptions {
  guards: Guards
  adapt: AdaptResolver
  /** Additional scalars, whose values are passed through. */
  scalars: readonly string[]
}

function create(elements: readonly Element[], { guards, adapt, scalars }: CreateOptions): GraphQLSchema {
  requireUniqueNames(elements)
  requireKnownTypes(elements)
  const schema = build(elements, scalars)
  for (const element of elements) {
    if (element.kind === 'input') {
      const type = schema.getType(element.name) as GraphQLInputObjectType
      type.extensions = { checksNumbers: element.checksNumbers === true }
      continue
    }
    try {
      if (element.kind === 'object') addResolvers(schema, element, { guards, adapt })
      else addRoot(schema, element, { guards, adapt })
    } catch (error) {
      throw elementError(element, errorMessage(error))
    }
  }
  return schema
}

type ResolverOptions = Pick<CreateOptions, 'guards' | 'adapt'>

function addRoot(schema: GraphQLSchema, element: RootElement, { guards, adapt }: ResolverOptions): void {
  const field = fieldOf(schema, rootTypes[element.kind], element.name)
  const resolve = guards.guardRoot(element)
  Object.assign(field, { resolve: adapt({ name: element.name, type: field.type, resolve }) })
  field.extensions = { element, ...(element.size && { size: element.size }) }
}

function addResolvers(
  schema: GraphQLSchema,
  element: Extract<Element, { kind: 'object' }>,
  { guards, adapt }: ResolverOptions,
): void {
  for (const [name, given] of Object.entries(element.fields)) {
    const field = fieldOf(schema, element.name, name)
    const resolve = typeof given === 'string' ? undefined : guardedResolver(name, given as Field, guards)
    const adapted = adapt({ name, type: field.type, resolve })
    if (adapted) field.resolve = adapted
    if (typeof given === 'object' && given.size) field.extensions = { size: given.size }
  }
}

function guardedResolver(name: string, field: Field, guards: Guards): Resolver | undefined {
  const resolve = resolverOf(field)
  return field.access === undefined
    ? resolve
    : guards.guardField({ access: field.access, resolve: resolve ?? readProperty(name) })
}

function resolverOf(field: Field): Resolver | undefined {
  if (field.load) return createFieldLoader(field.load)
  // The casts restore the types that the element was declared with.
  return field.resolve && ((source, args, context) => field.resolve?.(source as never, args as never, context))
}

function fieldOf(schema: GraphQLSchema, type: string, name: string): GraphQLField<unknown, Context> {
  return (schema.getType(type) as GraphQLObjectType).getFields()[name] as GraphQLField<unknown, Context>
}

function requireUniqueNames(elements: readonly Element[]): void {
  const scalars = specifiedScalarTypes.map(({ name }) => name)
  const taken = new Set<string>([...Object.values(rootTypes), ...scalars, coercedType])
  for (const element of elements) {
    const name = isRoot(element) ? `${rootTypes[element.kind]}.${element.name}` : element.name
    if (taken.has(name)) throw elementError(element, 'the name is taken')
    taken.add(name)
  }
}

function requireKnownTypes(elements: readonly Element[]): void {
  const names = elements.filter((element) => !isRoot(element)).map(({ name }) => name)
  const known = new Set([...names, ...specifiedScalarTypes.map(({ name }) => name)])
  for (const element of elements) {
    for (const [part, type] of typesOf(element)) {
      const name = namedType(element, part, type)
      if (!known.has(name)) throw elementError(element, `the type ${name} of ${part} is unknown`)
    }
  }
}

/** All types that an element refers to, each with the name of its field or argument. */
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
    throw elementError(element, `the type of ${part} cannot be read: ${errorMessage(error)}`)
  }
}

function build(elements: readonly Element[], scalars: readonly string[]): GraphQLSchema {
  const roots = Object.entries(rootTypes).map(([kind, name]) => {
    const own = elements.filter((element): element is RootElement => element.kind === kind)
    return own.length === 0 ? '' : printType('type', { name, fields: own.map((each) => [each.name, each]) })
  })
  const types = elements
    .filter((element) => !isRoot(element))
    .map(({ kind, name, description, fields }) =>
      printType(kind === 'object' ? 'type' : 'input', { name, description, fields: Object.entries(fields) }),
    )
  // Each type has been parsed before: what can still fail is their combination, which the message names.
  return buildFrom([...roots, ...types, ...scalars.map((name) => `scalar ${name}`)].join('\n'))
}

/** Valid documents by their text: a service builds several schemas from the same one. */
const known = new LRUCache<string, DocumentNode>({ max: 10 })

function buildFrom(text: string): GraphQLSchema {
  const valid = known.get(text)
  if (valid) return buildASTSchema(valid, { assumeValidSDL: true })
  const document = parse(text)
  const schema = buildASTSchema(document)
  known.set(text, document)
  return schema
}

interface TypeSource {
  name: string
  description?: string | undefined
  fields: readonly [name: string, type: string | (Field | RootElement | Exclude<Argument, string>)][]
}

function printType(keyword: 'type' | 'input', { name, description, fields }: TypeSource): string {
  const lines = fields.map(([field, given]) => {
    if (typeof given === 'string') return `${field}: ${given}`
    const args = 'args' in given && given.args ? Object.entries(given.args) : []
    const list = args.map(([argument, type]) => printArgument(argument, type)).join(', ')
    const own =
      args.length > 0 ? `${field}(${list}): ${given.type}` : printArgument(field, { ...given, description: '' })
    return `${printDescription(given.description)}${own}`
  })
  return `${printDescription(description)}${keyword} ${name} {\n${lines.join('\n')}\n}`
}

function printArgument(name: string, argument: Argument): string {
  if (typeof argument === 'string') return `${name}: ${argument}`
  const value = argument.default === undefined ? '' : ` = ${printValue(argument.default)}`
  return `${printDescription(argument.description)}${name}: ${argument.type}${value}`
}

/** Like JSON, but object keys are unquoted names. */
function printValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printValue).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).filter(([, each]) => each !== undefined)
  return `{${fields.map(([key, each]) => `${key}: ${printValue(each)}`).join(', ')}}`
}

function printDescription(text: string | undefined): string {
  return text ? `${JSON.stringify(text)}\n` : ''
}

function isRoot(element: Element): element is RootElement {
  return Object.hasOwn(rootTypes, element.kind)
}

function elementError({ kind, name }: Element, problem: string): Error {
  return new Error(`the GraphQL element ${kind} ${name}: ${problem}`)
}
