import type { FastifyRequest } from 'fastify'

/** Returns undefined if the path's `id` is not a valid id. */
export function idOf(request: FastifyRequest): number | undefined {
  const { id = '' } = request.params as { id?: string }
  return parseId(id)
}

export function parseId(text: string): number | undefined {
  const number = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) && number > 0 ? number : undefined
}
