/** The specification's reference schema (posts, createPost, counter), and the operations under the policy. */

import { awaitLongResponseSlot, readWithin } from '../../platform/graphql/execution/response-budget.ts'
import {
  type Context,
  type Element,
  mutation,
  objectType,
  query,
  subscription,
} from '../../platform/graphql/schema/elements.ts'
import type { Selection } from '../../platform/graphql/schema/selection.ts'
import { parseId } from '../../platform/http/ids.ts'
import type { Limiter } from '../../platform/limiter/limiter.ts'
import { compileBody, requireValid, validationFailed } from '../../platform/validation/body-validation.ts'
import { maxBody, NewPost, type NewPostBody, PostChange, type PostChangeBody } from './posts.schema.ts'
import type { Posts } from './posts.service.ts'
import type { PartOfPost, Post, PostRange } from './posts.store.ts'

export interface PostElementsDeps {
  posts: Posts
  /** createPost is public, so both the number and the size of posts are limited. */
  limiter: Limiter
  byteLimiter: Limiter
}

export const counterTopic = 'counter'

const defaultLimit = 100
const maxLimit = 1000

/** Bodies may be long, so lists are read in parts. */
const bodiesAtOnce = 50

export function createPostElements(deps: PostElementsDeps): Element[] {
  const policy = createPolicy(deps.posts)
  return [
    objectType({ name: 'Post', fields: { id: 'ID!', title: 'String', body: 'String' } }),
    objectType({ name: 'Counter', fields: { count: { type: 'Int', description: 'How many posts there are.' } } }),
    ...createQueries(deps, policy),
    ...createMutations(deps, policy),

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

type Policy = ReturnType<typeof createPolicy>

function createPolicy(posts: Posts) {
  const entity = async ({ id }: { id: string }) => {
    const number = parseId(id)
    return number === undefined ? undefined : posts.find(number)
  }
  return (action: 'view' | 'update' | 'delete') => ({ policy: 'posts', action, entity })
}

function createQueries({ posts }: PostElementsDeps, policy: Policy): Element[] {
  const list = createListReader(posts)
  return [
    query<{ limit: number | null; after?: string | null }>({
      name: 'posts',
      description: `By id ascending. At most ${maxLimit} at once; "after" is the id of the last one seen.`,
      // Nullable, so that an error here does not void the rest of the response.
      type: '[Post!]',
      args: { limit: { type: 'Int', default: defaultLimit }, after: 'ID' },
      access: 'public',
      size: ({ limit }) => limitOf(limit),
      resolve({ limit, after }, context, { selection }) {
        if (limit !== null && limit < 0) throw validationFailed({ limit: ['Must be at least 0'] })
        if (!/^[0-9]+$/.test(after ?? '0')) throw validationFailed({ after: ['Must be an id'] })
        // Clamp: larger than any id means beyond the last.
        const range = { after: Math.min(Number(after ?? 0), Number.MAX_SAFE_INTEGER), limit: limitOf(limit) }
        return list(context, selection(), range)
      },
    }),

    query<{ id: string }>({
      name: 'post',
      type: 'Post',
      args: { id: 'ID!' },
      access: policy('view'),
      resolve: (_args, context, { entity, selection }) => withinBudget(context, selection(), entity),
    }),
  ]
}

function createMutations({ posts, limiter, byteLimiter }: PostElementsDeps, policy: Policy): Element[] {
  const validateNew = compileBody(NewPost)
  const validateChange = compileBody(PostChange)
  return [
    mutation<NewPostBody>({
      name: 'createPost',
      description: 'Answers the id of the new post.',
      type: 'Int',
      args: { title: 'String!', body: 'String!' },
      access: { keyPermission: 'posts.create' },
      async resolve(args, { client }) {
        await limiter.take(client.address)
        const post = requireValid(validateNew, args)
        await byteLimiter.take(client.address, Buffer.byteLength(post.title) + Buffer.byteLength(post.body))
        const { id } = await posts.create(post)
        return id
      },
    }),

    mutation<{ id: string } & PostChangeBody>({
      name: 'updatePost',
      description: 'Changes what is given and not null.',
      type: 'Post',
      args: { id: 'ID!', title: 'String', body: 'String' },
      access: ['authenticated', policy('update')],
      async resolve({ id, ...change }, context, { selection }) {
        const given = requireValid(validateChange, change)
        // Counted before the write: once it is stored, the response must not fail.
        await readWithin({ context, selection: selection(), read: async () => [given] })
        return posts.update(Number(id), given)
      },
    }),

    mutation<{ id: string }>({
      name: 'deletePost',
      type: 'Boolean',
      args: { id: 'ID!' },
      access: ['authenticated', policy('delete')],
      async resolve({ id }) {
        await posts.delete(Number(id))
        return true
      },
    }),
  ]
}

/** Counts a post that is already loaded against the response budget. */
async function withinBudget(context: Context, selection: Selection, post: unknown): Promise<Post> {
  const [counted] = await readWithin({ context, selection, read: async () => [post as Post] })
  return counted as Post
}

function createListReader(service: Pick<Posts, 'list' | 'readBodies'>) {
  async function readPart(context: Context, part: PostRange): Promise<PartOfPost[]> {
    const posts = await service.list(part)
    const long = posts.filter(({ body }) => body === null).map(({ id }) => id)
    if (long.length === 0) return posts
    await awaitLongResponseSlot({ context, characters: long.length * maxBody })
    const bodies = await service.readBodies(long)
    return posts.map((post) => (post.body === null ? { ...post, body: bodies.get(post.id) ?? null } : post))
  }

  return async (context: Context, selection: Selection, { after, limit }: Omit<PostRange, 'columns'>) => {
    const posts: PartOfPost[] = []
    const columns = new Set((['title', 'body'] as const).filter((each) => selection.fields.has(each)))
    const readAtOnce = columns.has('body') ? bodiesAtOnce : limit
    while (posts.length < limit) {
      const part = { after: posts.at(-1)?.id ?? after, limit: Math.min(limit - posts.length, readAtOnce), columns }
      const more = await readWithin({ context, selection, read: () => readPart(context, part) })
      posts.push(...more)
      if (more.length < part.limit) break
    }
    return posts
  }
}

function limitOf(limit: number | null): number {
  return Math.min(Math.max(limit ?? defaultLimit, 0), maxLimit)
}
