import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { compressResponse } from './compression.ts'
import { contentEtag, isUnchanged } from './conditional-requests.ts'
import { httpErrors } from './http-errors.ts'

export interface StaticFile {
  /** Its path. A function is called when it is needed. */
  file: string | (() => string)
  type: string
}

export interface StaticFolder {
  /** Of their paths. */
  prefix: string
  /** By the last part of their paths. */
  files: ReadonlyMap<string, StaticFile>
  headers?: Readonly<Record<string, string>>
}

interface Content {
  bytes: Buffer
  etag: string
}

/** By path. */
const contents = new Map<string, Promise<Content>>()

/** Serves files, each read with the first request for it, with an ETag that clients revalidate. One route is for all. */
export function serveFiles(app: FastifyInstance, { prefix, files, headers = {} }: StaticFolder): void {
  // A file that is missing stops the start.
  for (const { file } of files.values()) if (typeof file === 'string') statSync(file)
  const config = { access: 'public', docs: false } as const
  app.get(`${prefix}/:file`, { config, onSend: compressResponse }, async (request, reply) => {
    const found = files.get((request.params as { file: string }).file)
    if (!found) throw httpErrors.notFound()
    const { bytes, etag } = await contentOf(typeof found.file === 'string' ? found.file : found.file())
    reply.header('cache-control', 'no-cache').headers(headers)
    if (isUnchanged(request, reply, etag)) return reply.send()
    return reply.type(found.type).send(bytes)
  })
}

function contentOf(file: string): Promise<Content> {
  const known = contents.get(file)
  if (known) return known
  const content = readFile(file).then((bytes) => ({ bytes, etag: contentEtag(bytes) }))
  contents.set(file, content)
  // The next request tries again.
  content.catch(() => contents.delete(file))
  return content
}
