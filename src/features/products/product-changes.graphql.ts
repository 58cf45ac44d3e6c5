/** The subscription of console lists to changes. Served only on the console's WebSocket, not in the API. */
import { objectType, subscription } from '../../platform/graphql/schema/elements.ts'
import { type ChangeNotices, productChangesTopic } from './product-changes.ts'

export function createProductChangeElements() {
  return [
    objectType({ name: 'ProductChange', fields: { id: 'ID!', kind: 'String!' } }),
    objectType({ name: 'ProductChanges', fields: { changes: '[ProductChange!]!', isCut: 'Boolean!' } }),

    subscription({
      name: 'changedProducts',
      type: 'ProductChanges!',
      access: 'authenticated',
      // Every signed-in user may see every product.
      isShared: true,
      subscribe: (_args, { values }) => values<ChangeNotices>(productChangesTopic),
    }),
  ]
}
