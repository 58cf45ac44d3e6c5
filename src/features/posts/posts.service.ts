import { httpErrors } from '../../platform/http/http-errors.ts'
import type { NewPostBody } from './posts.schema.ts'
import type { Post, PostStore } from './posts.store.ts'

export interface PostsDeps {
  store: PostStore
  /** Called with the number of posts after each new one. */
  onCounted(count: number): Promise<void>
}

export function createPosts({ store, onCounted }: PostsDeps) {
  return {
    find: store.find,
    list: store.list,
    readBodies: store.readBodies,

    async create(body: NewPostBody): Promise<Post> {
      const { post, count } = await store.insert(body)
      await onCounted(count)
      return post
    },

    async update(id: number, { title = null, body = null }: { title?: string | null; body?: string | null }) {
      const post = await store.update(id, { title, body })
      if (!post) throw httpErrors.notFound()
      return post
    },

    async delete(id: number): Promise<void> {
      if (!(await store.delete(id))) throw httpErrors.notFound()
    },
  }
}

export type Posts = ReturnType<typeof createPosts>
