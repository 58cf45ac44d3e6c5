import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { compressResponse } from './compression.ts'
import { contentEtag, isUnchanged } from './conditional-requests.ts'

export interface StaticFile {
  path: string
  file: string
  type: string
  headers?: Readonly<Record<string, string>>
}

interface Content {
  bytes: Buffer
  etag: string
}

/** By path. */
const contents = new Map<string, Content>()

/** Serves a file, read once by a process, with an ETag that clients revalidate. */
export function serveFile(app: FastifyInstance, { path, file, type, headers = {} }: StaticFile): void {
  const { bytes, etag } = contents.get(file) ?? read(file)
  const config = { access: 'public', docs: false } as const
  app.get(path, { config, onSend: compressResponse }, async (request, reply) => {
    reply.header('cache-control', 'no-cache').headers(headers)
    if (isUnchanged(request, reply, etag)) return reply.send()
    return reply.type(type).send(bytes)
  })
}

function read(file: string): Content {
  const bytes = readFileSync(file)
  const content = { bytes, etag: contentEtag(bytes) }
  contents.set(file, content)
  return content
}
