import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { httpErrors } from '../../platform/http/errors.ts'
import { idOf } from '../../platform/http/ids.ts'
import { docs } from './posts.docs.ts'
import type { Post, PostStore } from './posts.store.ts'

const maxTitle = 255
const maxBody = 65_536
const NewPost = Type.Object({
  title: Type.String({ 'x-not-blank': true, maxLength: maxTitle }),
  body: Type.Optional(Type.String({ maxLength: maxBody, default: '' })),
})
const PostChange = Type.Object({
  title: Type.Optional(Type.String({ 'x-not-blank-if-given': true, maxLength: maxTitle })),
  body: Type.Optional(Type.String({ maxLength: maxBody })),
})

export function addPostRoutes(app: FastifyInstance, { posts }: { posts: PostStore }): void {
  const entity = async (request: FastifyRequest) => {
    const id = idOf(request)
    return id === undefined ? undefined : posts.find(id)
  }

  app.post<{ Body: { title: string; body: string } }>(
    '/api/posts',
    { config: { access: 'authenticated', docs: docs.create }, schema: { body: NewPost } },
    async (request, reply) => {
      const post = await posts.insert(request.body)
      return reply.code(201).header('location', `/api/posts/${post.id}`).send({ data: post })
    },
  )

  app.get(
    '/api/posts/:id',
    { config: { access: { policy: 'posts', action: 'view', entity }, docs: docs.read } },
    async (request) => ({
      data: request.entity as Post,
    }),
  )

  app.put<{ Body: { title?: string; body?: string } }>(
    '/api/posts/:id',
    {
      config: { access: ['authenticated', { policy: 'posts', action: 'update', entity }], docs: docs.update },
      schema: { body: PostChange },
    },
    async (request) => {
      const { title = null, body = null } = request.body
      const post = await posts.update((request.entity as Post).id, { title, body })
      if (!post) throw httpErrors.notFound()
      return { data: post }
    },
  )

  app.delete(
    '/api/posts/:id',
    { config: { access: ['authenticated', { policy: 'posts', action: 'delete', entity }], docs: docs.delete } },
    async (request, reply) => {
      if (!(await posts.delete((request.entity as Post).id))) throw httpErrors.notFound()
      return reply.code(204).send()
    },
  )
}
