/** The GraphQL types of products, from the schemas of the REST API. */
import { type Argument, type Element, inputType, objectType } from '../../platform/graphql/schema/elements.ts'
import { ProductResource } from './product-resource.ts'
import { ChangedProduct, NewProduct } from './products.schema.ts'

export function createProductTypes(): Element[] {
  return [
    objectType({
      name: 'Product',
      fields: { id: 'ID!', ...outputFields(ProductResource.properties.attributes) },
    }),
    objectType({
      name: 'ProductList',
      fields: { data: '[Product!]!', meta: 'ProductListMeta!' },
    }),
    objectType({
      name: 'ProductListMeta',
      fields: {
        total: { type: 'Int!', description: 'Of all pages; of a search or a category, the number of items returned.' },
        page: { type: 'Int', description: 'Null where the list has no pages: a search or a category.' },
        perPage: 'Int',
        lastPage: 'Int',
        truncated: { type: 'Boolean!', description: 'There are more than are returned at most.' },
      },
    }),
    inputType({
      name: 'CreateProductInput',
      description: 'The rules are those of the REST API: name, description and price must not be blank.',
      checksNumbers: true,
      fields: inputFields(NewProduct),
    }),
    inputType({
      name: 'UpdateProductInput',
      description: 'Only what is given and not null is changed.',
      checksNumbers: true,
      fields: inputFields(ChangedProduct),
    }),
  ]
}

/** The properties that the schemas of products have. */
interface Properties {
  properties: Readonly<Record<string, { type: keyof typeof scalars; format?: string }>>
}

const scalars = { string: 'String', number: 'Float', integer: 'Int', boolean: 'Boolean' } as const

function outputFields({ properties }: Properties): Record<string, Argument> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type, format }]) => {
      const isTime = format === 'date-time'
      return [
        name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
        isTime ? { type: `${scalars[type]}!`, description: 'ISO 8601, in UTC.' } : `${scalars[type]}!`,
      ]
    }),
  )
}

/** All are optional here, so that the validation of the bodies reports what is missing. */
function inputFields({ properties }: Properties): Record<string, string> {
  return Object.fromEntries(Object.entries(properties).map(([name, { type }]) => [name, scalars[type]]))
}
