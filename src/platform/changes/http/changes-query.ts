/** What a reader of the change log asks for. */
import type { FastifyRequest } from 'fastify'
import { Type } from '../../validation/schema-builder.ts'
import type { Cursors } from '../cursors.ts'

export interface ChangesQuery {
  /** Undefined: from now on. */
  after: number | undefined
  limit: number
  waitSeconds: number
}

const defaultLimit = 100
const maxLimit = 1000
const maxWaitSeconds = 30

/** For the API description. Values that are no numbers fall back to their defaults. */
export const changesQuery = {
  after: Type.String({
    description: 'The cursor from which to go on. Without it, from now on; `0` is the oldest change that is kept.',
  }),
  limit: Type.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit }),
  wait: Type.Integer({
    minimum: 0,
    maximum: maxWaitSeconds,
    default: 0,
    description: 'Holds the request for so many seconds, until there is a change.',
  }),
}

/** Throws 422 for a malformed cursor: it must not be taken for none. */
export function readChangesQuery(request: FastifyRequest, cursors: Cursors): ChangesQuery {
  const { after, limit, wait } = request.query as Record<string, unknown>
  return {
    after: toPosition(after, cursors),
    limit: Math.min(toNumber(limit) || defaultLimit, maxLimit),
    waitSeconds: Math.min(toNumber(wait), maxWaitSeconds),
  }
}

/** A browser sends the last id that it got, and the address as it was first given. */
export function readStreamStart(request: FastifyRequest, cursors: Cursors): number | undefined {
  return toPosition(request.headers['last-event-id'], cursors) ?? readChangesQuery(request, cursors).after
}

function toPosition(given: unknown, cursors: Cursors): number | undefined {
  const [text] = [given].flat()
  return typeof text === 'string' && text.trim() !== '' ? cursors.parse(text) : undefined
}

function toNumber(given: unknown): number {
  return typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : 0
}
