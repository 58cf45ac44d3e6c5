import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { compressResponse } from './compression.ts'
import { isUnchanged } from './conditional-requests.ts'

export interface StaticFile {
  path: string
  file: string
  type: string
  headers?: Readonly<Record<string, string>>
}

/** Serves a file, read once at start-up, with an ETag that clients revalidate. */
export function serveFile(app: FastifyInstance, { path, file, type, headers = {} }: StaticFile): void {
  const bytes = readFileSync(file)
  const etag = `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"`
  const config = { access: 'public', docs: false } as const
  app.get(path, { config, onSend: compressResponse }, async (request, reply) => {
    reply.header('cache-control', 'no-cache').headers(headers)
    if (isUnchanged(request, reply, etag)) return reply.send()
    return reply.type(type).send(bytes)
  })
}
