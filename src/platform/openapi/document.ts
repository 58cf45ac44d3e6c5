/** The parts of OpenAPI 3.1 that are used here. */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
  servers: { url: string; description?: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    securitySchemes: Record<string, object>
    schemas: Record<string, JsonSchema>
    responses: Record<string, ResponseObject>
  }
}

export interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  /** Who may use it, for readers. */
  'x-access': string
  security: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Record<string, MediaType> }
  responses: Record<string, ResponseObject | Reference>
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: JsonSchema
}

export interface ResponseObject {
  description: string
  headers?: Record<string, { description?: string; schema: JsonSchema }>
  content?: Record<string, MediaType>
}

export interface MediaType {
  schema: JsonSchema
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

export interface Reference {
  $ref: string
}

export interface JsonSchema {
  $ref?: string
  title?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  [keyword: string]: unknown
}

export const schemaPath = '#/components/schemas/'
export const responsePath = '#/components/responses/'

/** Returns the schema that a reference points to; any other schema unchanged. */
export function resolveSchema(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  const name = schema.$ref?.slice(schemaPath.length)
  return name === undefined ? schema : (document.components.schemas[name] ?? {})
}

export function resolveResponse(document: OpenApiDocument, response: ResponseObject | Reference): ResponseObject {
  if (!('$ref' in response)) return response
  return document.components.responses[response.$ref.slice(responsePath.length)] ?? { description: '' }
}
