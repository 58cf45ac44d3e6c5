/** How the lists of the console hear of changes. Not a part of the API: only the console's own socket has it. */
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
      // Everybody who is signed in may see every product.
      isShared: true,
      subscribe: (_args, { values }) => values<ChangeNotices>(productChangesTopic),
    }),
  ]
}
