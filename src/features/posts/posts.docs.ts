import { Id, noContent, type RouteDocs, response } from '../../platform/openapi/route-docs.ts'
import { Type } from '../../platform/validation/schema-builder.ts'

const tag = { name: 'Posts', description: 'Short texts, which the reference policy guards.' }
const params = { id: Id }

const Post = Type.Object({ id: Id, title: Type.String(), body: Type.String() }, { title: 'Post' })
const PostEnvelope = Type.Object({ data: Post }, { title: 'PostEnvelope' })
const post = { id: 1, title: 'Hello', body: 'World' }

export const docs = {
  create: {
    tag,
    operationId: 'createPost',
    summary: 'Write a post',
    body: { example: { title: 'Hello', body: 'World' } },
    responses: {
      201: response(
        PostEnvelope,
        { data: post },
        { headers: { location: Type.String({ format: 'uri-reference', description: 'Where it is.' }) } },
      ),
    },
  },
  read: {
    tag,
    operationId: 'getPost',
    summary: 'Read a post',
    params,
    responses: { 200: response(PostEnvelope, { data: post }) },
  },
  update: {
    tag,
    operationId: 'updatePost',
    summary: 'Change a post',
    description: 'Changes the fields that are given and not null. The reference policy lets admins and editors do it.',
    params,
    body: { example: { title: 'Hello again' } },
    responses: { 200: response(PostEnvelope, { data: { ...post, title: 'Hello again' } }) },
  },
  delete: {
    tag,
    operationId: 'deletePost',
    summary: 'Delete a post',
    description: 'The reference policy lets admins do it.',
    params,
    responses: { 204: noContent },
  },
} satisfies Record<string, RouteDocs>
