/** The GraphQL types of products. */
import { type Element, inputType, objectType } from '../../platform/graphql/schema/elements.ts'

export function createProductTypes(): Element[] {
  return [
    objectType({
      name: 'Product',
      fields: {
        id: 'ID!',
        name: 'String!',
        slug: 'String!',
        description: 'String!',
        price: 'Float!',
        formattedPrice: 'String!',
        category: 'String!',
        stock: 'Int!',
        inStock: 'Boolean!',
        active: 'Boolean!',
        createdAt: { type: 'String!', description: 'ISO 8601, in UTC.' },
        updatedAt: { type: 'String!', description: 'ISO 8601, in UTC.' },
      },
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
      fields: { name: 'String', description: 'String', price: 'Float', category: 'String', stock: 'Int' },
    }),
    inputType({
      name: 'UpdateProductInput',
      description: 'Only what is given and not null is changed.',
      checksNumbers: true,
      fields: {
        name: 'String',
        description: 'String',
        price: 'Float',
        category: 'String',
        stock: 'Int',
        active: 'Boolean',
      },
    }),
  ]
}
