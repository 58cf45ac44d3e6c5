/** How programs read and change a product, with its own id and version: to copy, and to run as they are. */
import { etagOfProduct, type Product } from '../product.ts'
import { toFields } from '../product-fields.ts'
import { toResource } from '../product-resource.ts'
import { productsPath } from '../products.routes.ts'

export interface Snippet {
  id: string
  name: string
  /** What it needs or does. */
  hint: string
  text: string
}

/** A longer description, which may be a megabyte, is cut. */
const maxDescription = 1000

export function snippetsOf(product: Product, address: string): Snippet[] {
  return [asJson(product), asCurl(product, address), asTypeScript(product, address), asGraphQL(product)]
}

function asJson(product: Product): Snippet {
  const isCut = product.description.length > maxDescription
  const description = isCut ? `${product.description.slice(0, maxDescription).toWellFormed()}…` : product.description
  return {
    id: 'json',
    name: 'JSON',
    hint: `As the API returns it${isCut ? ', but with a shortened description' : ''}.`,
    text: JSON.stringify({ data: toResource({ ...product, description }) }, null, 2),
  }
}

function asCurl(product: Product, address: string): Snippet {
  const url = `'${address}${productsPath}/${product.id}'`
  return {
    id: 'curl',
    name: 'curl',
    hint: 'Reads it, and saves price and stock unless it has changed since. TOKEN is an access token or an API key.',
    text: `curl ${url}

curl -X PUT ${url} \\
  -H "authorization: Bearer $TOKEN" \\
  -H 'content-type: application/json' \\
  -H 'if-match: ${etagOfProduct(product)}' \\
  -d '${JSON.stringify(changeOf(product))}'`,
  }
}

function asTypeScript(product: Product, address: string): Snippet {
  const { price, stock } = changeOf(product)
  return {
    id: 'typescript',
    name: 'TypeScript',
    hint: 'With @latchkey/client, and an API key of yours in place of lk_….',
    text: `import { createLatchkey } from '@latchkey/client'

const latchkey = createLatchkey({ url: '${address}', apiKey: 'lk_…' })

const product = await latchkey.products.get(${product.id})
await latchkey.products.update(
  ${product.id},
  { price: ${price}, stock: ${stock} },
  { ifMatch: '${etagOfProduct(product)}' },
)`,
  }
}

function asGraphQL(product: Product): Snippet {
  const fields = Object.keys(toFields(product)).filter((name) => name !== 'id')
  return {
    id: 'graphql',
    name: 'GraphQL',
    hint: 'For POST /graphql.',
    text: `query {
  product(id: ${product.id}) {
    id
    ${fields.join('\n    ')}
  }
}`,
  }
}

function changeOf({ price_cents, stock }: Product) {
  return { price: price_cents / 100, stock }
}
