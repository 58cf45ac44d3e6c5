import type { FastifyInstance, FastifyRequest } from 'fastify'
import { idOf } from '../../platform/http/ids.ts'
import { docs } from './posts.docs.ts'
import { NewPost, PostChange } from './posts.schema.ts'
import type { Posts } from './posts.service.ts'
import type { Post } from './posts.store.ts'

export function addPostRoutes(app: FastifyInstance, { posts }: { posts: Posts }): void {
  const entity = async (request: FastifyRequest) => {
    const id = idOf(request)
    return id === undefined ? undefined : posts.find(id)
  }

  app.post(
    '/api/posts',
    {
      config: { access: ['authenticated', { keyPermission: 'posts.create' }], docs: docs.create },
      schema: { body: NewPost },
    },
    async (request, reply) => {
      const post = await posts.create(request.body)
      return reply.code(201).header('location', `/api/posts/${post.id}`).send({ data: post })
    },
  )

  app.get(
    '/api/posts/:id',
    { config: { access: { policy: 'posts', action: 'view', entity }, docs: docs.read } },
    async (request, reply) => reply.header('cache-control', 'no-cache').send({ data: request.entity as Post }),
  )

  app.put(
    '/api/posts/:id',
    {
      config: { access: ['authenticated', { policy: 'posts', action: 'update', entity }], docs: docs.update },
      schema: { body: PostChange },
    },
    async (request) => ({ data: await posts.update((request.entity as Post).id, request.body) }),
  )

  app.delete(
    '/api/posts/:id',
    { config: { access: ['authenticated', { policy: 'posts', action: 'delete', entity }], docs: docs.delete } },
    async (request, reply) => {
      await posts.delete((request.entity as Post).id)
      return reply.code(204).send()
    },
  )
}
