/** Creates products with an Idempotency-Key, changes them under If-Match, and deletes some. */
import { randomUUID } from 'node:crypto'
import type { Answer } from '../requests.ts'
import { type StoredProduct, valuesOf, type Writer, type WriterParts } from './writer.ts'

type Pending =
  | { kind: 'create'; key: string; label: string }
  | { kind: 'update' | 'delete'; id: number }
  | { kind: 'none' }

const path = '/api/v2/products'
const attributes = ['name', 'description', 'price', 'category', 'stock'] as const
/** Change and delete need something to choose from. */
const minLive = 3

export function createProductWriter(parts: WriterParts, { name, token }: { name: string; token: string }): Writer {
  const { caller, expected, random } = parts
  const live: number[] = []
  const etags = new Map<number, string>()
  let made = 0
  let pending: Pending = { kind: 'none' }

  /** The first time or again: the key makes it one product. */
  async function create(key: string, label: string): Promise<void> {
    const product: StoredProduct = { label, change: 1, version: 1, isDeleted: false }
    const headers = { 'idempotency-key': key }
    const answer = await caller.call([201], { path, body: valuesOf(product), token, headers })
    const { id } = answer.body.data
    if (expected.products.has(id)) throw new Error(`product ${id} was made twice`)
    requireValues(answer, product)
    expected.products.set(id, product)
    etags.set(id, String(answer.headers.etag))
    live.push(id)
    done('create')
  }

  async function update(id: number): Promise<void> {
    const changed = next(id)
    const headers = { 'if-match': etags.get(id) ?? '' }
    const body = valuesOf(changed)
    const answer = await caller.call([200], { path: `${path}/${id}`, method: 'PUT', body, token, headers })
    keep(id, changed, answer)
    done('update')
  }

  async function remove(id: number, wanted: readonly number[]): Promise<void> {
    await caller.call(wanted, { path: `${path}/${id}`, method: 'DELETE', token })
    const { version, ...product } = get(id)
    expected.products.set(id, { ...product, version: version + 1, isDeleted: true })
    live.splice(live.indexOf(id), 1)
    done('delete')
  }

  function done(kind: 'create' | 'update' | 'delete'): void {
    pending = { kind: 'none' }
    caller.acknowledge(kind)
  }

  function get(id: number): StoredProduct {
    return expected.products.get(id) as StoredProduct
  }

  function next(id: number): StoredProduct {
    const { change, version, ...product } = get(id)
    return { ...product, change: change + 1, version: version + 1 }
  }

  function keep(id: number, product: StoredProduct, answer: Answer): void {
    requireValues(answer, product)
    expected.products.set(id, product)
    etags.set(id, String(answer.headers.etag))
  }

  return {
    async write() {
      const id = live[Math.floor(random() * live.length)]
      const choice = random()
      if (id === undefined || live.length < minLive || choice < 0.4) {
        made += 1
        pending = { kind: 'create', key: randomUUID(), label: `${name}-${made}` }
        await create(pending.key, pending.label)
      } else if (choice < 0.8) {
        pending = { kind: 'update', id }
        await update(id)
      } else {
        pending = { kind: 'delete', id }
        await remove(id, [204])
      }
    },

    async settle() {
      if (pending.kind === 'create') await create(pending.key, pending.label)
      // It may have been deleted already.
      else if (pending.kind === 'delete') await remove(pending.id, [204, 404])
      else if (pending.kind === 'update') {
        const { id } = pending
        const answer = await caller.call([200], { path: `${path}/${id}` })
        // As it was before, or as it was to become.
        const isChanged = answer.headers.etag !== etags.get(id)
        keep(id, isChanged ? next(id) : get(id), answer)
        pending = { kind: 'none' }
      }
    },
  }
}

function requireValues(answer: Answer, product: StoredProduct): void {
  const values = valuesOf(product)
  const found = answer.body.data.attributes
  if (attributes.some((each) => found[each] !== values[each])) {
    throw new Error(`expected ${JSON.stringify(values)}, but a product is ${JSON.stringify(found)}`)
  }
}
