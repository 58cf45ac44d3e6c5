/** The thread that reads an uploaded file of products. */
import { serveUpload } from '../../../collections/transfer/serve-upload.ts'
import { formatPrice, type ProductValues } from '../product.ts'
import { productColumns } from './columns.ts'
import { createRowCheck } from './row-check.ts'

serveUpload<ProductValues>({
  columns: productColumns,
  createCheck: createRowCheck,
  toSample: ({ name, description, price_cents, category, stock }) => [
    name,
    description,
    formatPrice(price_cents),
    category,
    String(stock),
  ],
})
