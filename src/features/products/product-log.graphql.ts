/** The change log as a subscription: unlike `productCreated`, it can be resumed and misses nothing. */
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import type { ChangePage } from '../../platform/changes/pages.ts'
import { type Element, objectType, subscription } from '../../platform/graphql/schema/elements.ts'
import { toFields } from './product-fields.ts'
import { parseStored, productTopic, versionOf } from './product-topic.ts'

const entriesPerRead = 100
const maxBytes = 64 * 1024

export function createProductLogElements(changes: ChangeLog): Element[] {
  const lists = new WeakMap<ChangePage, readonly object[]>()

  /** The same list for all subscribers. */
  function valuesOf(page: ChangePage): readonly object[] {
    let list = lists.get(page)
    if (!list) {
      list = page.entries.map(({ id, type, at, data }) => {
        const product = toFields(parseStored(data))
        return { cursor: changes.cursors.issue(id), type, at, version: versionOf(type, data), product }
      })
      lists.set(page, list)
    }
    return list
  }

  return [
    objectType({
      name: 'ProductChange',
      fields: {
        cursor: { type: 'String!', description: 'Where to go on after this change.' },
        type: {
          type: 'String!',
          description: 'product.created, product.updated, product.deleted or product.restored.',
        },
        at: { type: 'String!', description: 'ISO 8601, in UTC.' },
        version: { type: 'Int!', description: 'Grows with every change of the product.' },
        product: { type: 'Product!', description: 'As it is after the change; a deleted one as it last was.' },
      },
    }),

    subscription<{ after?: string | null }>({
      name: 'productChanges',
      description: 'Every change of a product, in order. Resumed from a cursor, it misses none.',
      type: 'ProductChange!',
      args: {
        after: {
          type: 'String',
          description: 'A cursor; "0" is the oldest change that is kept. Default: from now on.',
        },
      },
      access: 'public',
      // Each subscriber has a place of its own, but what it is sent is the same for all.
      isShared: 'lists',
      async *subscribe({ after }, { signal, starts }) {
        const start =
          after == null || after === '' ? changes.latestOf(productTopic.topic) : changes.cursors.parse(after)
        starts(Promise.resolve(start))
        const query = { topic: productTopic.topic, after: await start, limit: entriesPerRead, maxBytes, signal }
        for await (const page of changes.follow(query)) yield valuesOf(page)
      },
    }),
  ]
}
