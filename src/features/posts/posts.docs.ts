import { Type } from '../../core/type.ts'
import { answer, Id, noContent, type RouteDocs } from '../../platform/http/openapi/route-docs.ts'

const tag = 'Posts'
const params = { id: Id }

const Post = Type.Object({ id: Type.Integer(), title: Type.String(), body: Type.String() }, { title: 'Post' })
const PostAnswer = Type.Object({ data: Post })
const post = { id: 1, title: 'Hello', body: 'World' }

export const docs = {
  create: {
    tag,
    summary: 'Write a post',
    body: { example: { title: 'Hello', body: 'World' } },
    answers: {
      201: answer(PostAnswer, { data: post }, { headers: { location: Type.String({ description: 'Where it is.' }) } }),
    },
  },
  read: { tag, summary: 'Read a post', params, answers: { 200: answer(PostAnswer, { data: post }) } },
  update: {
    tag,
    summary: 'Change a post',
    description: 'Changes the fields that are given and not null. The reference policy lets admins and editors do it.',
    params,
    body: { example: { title: 'Hello again' } },
    answers: { 200: answer(PostAnswer, { data: { ...post, title: 'Hello again' } }) },
  },
  delete: {
    tag,
    summary: 'Delete a post',
    description: 'The reference policy lets admins do it.',
    params,
    answers: { 204: noContent },
  },
} satisfies Record<string, RouteDocs>
