import { Type, type Validated } from '../../platform/validation/schema-builder.ts'

const maxTitle = 255
export const maxBody = 65_536

export const NewPost = Type.Object({
  title: Type.String({ 'x-not-blank': true, maxLength: maxTitle }),
  body: Type.Optional(Type.String({ maxLength: maxBody, default: '' })),
})

export const PostChange = Type.Object({
  title: Type.Optional(Type.String({ 'x-not-blank': true, maxLength: maxTitle })),
  body: Type.Optional(Type.String({ maxLength: maxBody })),
})

export type NewPostBody = Validated<typeof NewPost>
export type PostChangeBody = Validated<typeof PostChange>
