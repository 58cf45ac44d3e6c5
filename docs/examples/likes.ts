/** Likes for posts, live. The example of docs/graphql.md. */
import { defineFeature, type Infrastructure } from 'latchkey/feature'
import { mutation, objectType, query, subscription } from 'latchkey/graphql'

interface Likes {
  post: string
  count: number
}

export default defineFeature({
  name: 'likes',
  create: (infrastructure) => infrastructure,
  elements: createLikes,
})

function createLikes({ topics }: Infrastructure) {
  // In memory, to keep the example short. What must outlive the process belongs in the database.
  const counts = new Map<string, number>()
  const likesOf = (post: string): Likes => ({ post, count: counts.get(post) ?? 0 })

  return [
    objectType<Likes>({
      name: 'Likes',
      fields: {
        post: 'ID!',
        count: 'Int!',
        isPopular: { type: 'Boolean!', resolve: ({ count }) => count >= 100 },
      },
    }),

    query<{ post: string }>({
      name: 'likes',
      type: 'Likes!',
      args: { post: 'ID!' },
      access: 'public',
      resolve: ({ post }) => likesOf(post),
    }),

    mutation<{ post: string }>({
      name: 'like',
      type: 'Likes!',
      args: { post: 'ID!' },
      access: 'authenticated',
      async resolve({ post }) {
        counts.set(post, likesOf(post).count + 1)
        await topics.publish(`likes.${post}`, likesOf(post))
        return likesOf(post)
      },
    }),

    subscription<{ post: string }>({
      name: 'liked',
      type: 'Likes!',
      args: { post: 'ID!' },
      access: 'public',
      async *subscribe({ post }, { values }) {
        for await (const liked of values<Likes>(`likes.${post}`)) yield liked
      },
    }),
  ]
}
