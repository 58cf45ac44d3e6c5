import { objectType, query } from '../../platform/graphql/schema/elements.ts'

export function createUserElements() {
  return [
    objectType({ name: 'User', fields: { id: 'ID!', email: 'String!', name: 'String!', roles: '[String!]!' } }),

    query({
      name: 'me',
      description: 'Whose token came with the request; null without one.',
      type: 'User',
      access: 'public',
      resolve: (_args, { principal }) => principal ?? null,
    }),
  ]
}
