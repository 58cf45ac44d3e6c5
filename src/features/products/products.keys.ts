import type { CoreConfig } from '../../config/config.ts'
import { key, optional, type ValuesOf } from '../../config/key.ts'
import { count, text } from '../../config/readers.ts'

export const productKeys = {
  products: {
    collectionLimit: key('products.collection_limit', count, 1000),
    writePermission: optional('products.write_permission', text),
  },
}

export type ProductsConfig = CoreConfig & ValuesOf<typeof productKeys>
