/** What open lists of the console follow: the change log, without the products. Served only on the console's WebSocket. */
import { pause } from '../../../core/pause.ts'
import type { ChangeLog } from '../../../platform/changes/change-log.ts'
import type { ChangePage } from '../../../platform/changes/pages.ts'
import { type Element, objectType, subscription } from '../../../platform/graphql/schema/elements.ts'
import { productTopic, versionOf } from '../product-topic.ts'

/** A page loads its list again after more than so many at once, such as after an import. */
const maxChanges = 100
/** A page is sent at most one message in so long. */
const gatherMs = 250

export function createLiveListElements(changes: ChangeLog): Element[] {
  /** Of what is too much, only that it is too much is told. */
  async function summarise({ entries, position, more }: ChangePage) {
    const end = more ? await changes.latest() : position
    const listed = entries.map(({ entity_id, type, data }) => ({ id: entity_id, type, version: versionOf(type, data) }))
    return { end, message: { cursor: changes.cursors.issue(end), changes: more ? [] : listed, isCut: more } }
  }

  return [
    objectType({ name: 'ListChange', fields: { id: 'ID!', type: 'String!', version: 'Int!' } }),
    objectType({ name: 'ListChanges', fields: { cursor: 'String!', changes: '[ListChange!]!', isCut: 'Boolean!' } }),

    subscription<{ after: string }>({
      name: 'changedProducts',
      type: 'ListChanges!',
      args: { after: 'String!' },
      // Every signed-in user may see every product.
      access: 'authenticated',
      // Each page has a place of its own.
      isShared: false,
      async *subscribe({ after }, { signal }) {
        const query = { topic: productTopic.topic, limit: maxChanges, signal }
        const first = await summarise(await changes.read({ ...query, after: changes.cursors.parse(after) }))
        // Even if it is empty: it tells the page that it is live.
        yield first.message
        for (let position = first.end; !signal.aborted; ) {
          for await (const page of changes.follow({ ...query, after: position })) {
            const { end, message } = await summarise(page)
            yield message
            await pause(gatherMs, signal)
            position = end
            if (page.more) break
          }
        }
      },
    }),
  ]
}
