/** The reference schema: posts, createPost and counter. Beside them what the policy guards. */
import { mutation, objectType, query, subscription } from '../../platform/graphql/elements.ts'
import { parseId } from '../../platform/http/ids.ts'
import { compileBody, requireValid, validationFailed } from '../../platform/http/validation.ts'
import type { Limiter } from '../../platform/limiter/limiter.ts'
import { NewPost, type NewPostBody, PostChange, type PostChangeBody } from './posts.schema.ts'
import type { Posts } from './posts.service.ts'

export interface PostElementsDeps {
  posts: Posts
  /** createPost is open to everybody. */
  limiter: Limiter
}

export const counterTopic = 'counter'

const defaultLimit = 100
const maxLimit = 1000

export function createPostElements(deps: PostElementsDeps) {
  const validateNew = compileBody(NewPost)
  const validateChange = compileBody(PostChange)
  const find = async ({ id }: { id: string }) => {
    const number = parseId(id)
    return number === undefined ? undefined : deps.posts.find(number)
  }
  const policy = (action: 'view' | 'update' | 'delete') => ({ policy: 'posts', action, entity: find })

  return [
    objectType({ name: 'Post', fields: { id: 'ID!', title: 'String', body: 'String' } }),
    objectType({ name: 'Counter', fields: { count: { type: 'Int', description: 'How many posts there are.' } } }),

    query<{ limit: number | null; after?: string | null }>({
      name: 'posts',
      description: `By id ascending. At most ${maxLimit} at once; "after" is the id of the last one seen.`,
      type: '[Post!]!',
      args: { limit: { type: 'Int', default: defaultLimit }, after: 'ID' },
      access: 'public',
      size: ({ limit }) => limitOf(limit),
      resolve({ limit, after }) {
        if (limit !== null && limit < 0) throw validationFailed({ limit: ['Must be at least 0'] })
        const last = after === undefined || after === null ? 0 : parseId(after)
        if (last === undefined && after !== '0') throw validationFailed({ after: ['Must be an id'] })
        return deps.posts.list({ after: last ?? 0, limit: limitOf(limit) })
      },
    }),

    query<{ id: string }>({
      name: 'post',
      type: 'Post',
      args: { id: 'ID!' },
      access: policy('view'),
      resolve: (_args, _context, post) => post,
    }),

    mutation<NewPostBody>({
      name: 'createPost',
      description: 'Answers the id of the new post.',
      type: 'Int',
      args: { title: 'String!', body: 'String!' },
      access: 'public',
      async resolve(args, { client }) {
        await deps.limiter.take(client.address)
        const { id } = await deps.posts.create(requireValid<NewPostBody>(validateNew, args))
        return id
      },
    }),

    mutation<{ id: string } & PostChangeBody>({
      name: 'updatePost',
      description: 'Changes what is given and not null.',
      type: 'Post',
      args: { id: 'ID!', title: 'String', body: 'String' },
      access: ['authenticated', policy('update')],
      resolve: ({ id, ...change }) =>
        deps.posts.update(Number(id), requireValid<PostChangeBody>(validateChange, change)),
    }),

    mutation<{ id: string }>({
      name: 'deletePost',
      type: 'Boolean',
      args: { id: 'ID!' },
      access: ['authenticated', policy('delete')],
      async resolve({ id }) {
        await deps.posts.delete(Number(id))
        return true
      },
    }),

    subscription({
      name: 'counter',
      description: 'The number of posts, after each new one.',
      type: 'Counter',
      access: 'public',
      async *subscribe(_args, { values }) {
        for await (const count of values(counterTopic)) yield count
      },
    }),
  ]
}

function limitOf(limit: number | null): number {
  return Math.min(Math.max(limit ?? defaultLimit, 0), maxLimit)
}
