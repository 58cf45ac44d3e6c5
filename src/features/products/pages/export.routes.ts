/** Downloads what a list shows as CSV, streamed as fast as the client reads. */
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { serviceUnavailable } from '../../../core/app-error.ts'
import { compressResponse } from '../../../platform/http/compression.ts'
import { onResponseEnd } from '../../../platform/http/response-end.ts'
import type { ListQuery } from '../../../platform/listing/list-definition.ts'
import { type ListParameters, withoutBlanks } from '../../../platform/pages/components/list-links.ts'
import type { ExportedSearch } from '../transfer/list-export.ts'
import { asksForOrder, orderedQueryOf } from './ordered-list.ts'
import { type ProductPagesDeps, reading } from './product-pages.ts'

/** In this thread. Each holds little, but reads much. */
const maxExports = 8

export function addExport(app: FastifyInstance, { listExport }: ProductPagesDeps): void {
  let running = 0

  app.get<{ Querystring: Record<string, unknown> }>(
    '/products/export',
    { ...reading, onSend: compressResponse },
    async (request, reply) => {
      const asked = readAsked(withoutBlanks(request.query))
      reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="products.csv"')
      if (request.method === 'HEAD') return reply.send('')
      const { exportList } = await import('../transfer/list-export.ts')
      if (running >= maxExports) throw serviceUnavailable()
      running += 1
      const parts = exportList(listExport, asked)
      // Whether all of it was read or not.
      onResponseEnd(reply.raw, () => {
        running -= 1
        void parts.return(undefined)
      })
      return reply.send(Readable.from(parts, { objectMode: false }))
    },
  )
}

/** The same products in the same order as the list with these parameters. */
function readAsked(given: ListParameters): ListQuery | ExportedSearch {
  const { q, category } = given
  if (asksForOrder(given)) return orderedQueryOf(given)
  if (q !== undefined) return { q, category }
  if (category === undefined) return orderedQueryOf(given)
  return orderedQueryOf({ category, 'filter[active]': 'true', sort: 'name' })
}
