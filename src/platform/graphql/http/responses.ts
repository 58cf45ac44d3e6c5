import type { FastifyReply } from 'fastify'
import type { JsonType } from './media-types.ts'

const contentTypes: Readonly<Record<JsonType, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'application/graphql-response+json': 'application/graphql-response+json; charset=utf-8',
}

export interface JsonResponse {
  type: JsonType
  status: number
  text: string
}

/** `text` is serialized JSON. */
export function sendJson(reply: FastifyReply, { type, status, text }: JsonResponse): FastifyReply {
  return reply.code(status).header('content-type', contentTypes[type]).send(text)
}
