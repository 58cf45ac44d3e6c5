/** Notes: an extension of Latchkey. Name this folder in `extensions` of the configuration to have it. */
import { join } from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  defineEvent,
  defineFeature,
  type Infrastructure,
  idOf,
  integer,
  key,
  type Policy,
  principalOf,
  Type,
} from 'latchkey/feature'
import { objectType, query } from 'latchkey/graphql'

interface Note {
  id: number
  user_id: number
  text: string
}

/** What a client sends. It is checked before the handler runs, and described in /docs. */
const createSchema = (maxLength: number) => Type.Object({ text: Type.String({ 'x-not-blank': true, maxLength }) })

/** Listeners, of this feature or another, hear of it: `on(noteWritten, …)`. */
export const noteWritten = defineEvent<Note>('NoteWritten')

/** Who may do what with a note. Routes and GraphQL elements ask it by its name. */
const notePolicy: Policy<Note> = {
  view: (user, note) => user?.id === note.user_id || user?.can('notes.view') === true,
}

/** What the feature does, the same for REST, GraphQL, pages and commands. */
function createNotes({ db, clock, events }: Infrastructure) {
  return {
    find: (id: number) => db.get<Note>('SELECT id, user_id, text FROM notes WHERE id = $1', [id]),
    list: (userId: number) =>
      db.all<Note>('SELECT id, user_id, text FROM notes WHERE user_id = $1 ORDER BY id', [userId]),

    async write(userId: number, text: string): Promise<Note> {
      // All statements of a `write` happen, or none; it resolves once they are durable.
      const [[note]] = await db.write<Note>({
        sql: 'INSERT INTO notes (user_id, text, created_at) VALUES ($1, $2, $3) RETURNING id, user_id, text',
        params: [userId, text, clock.nowIso()],
      })
      await events.emit(noteWritten, note as Note)
      return note as Note
    },
  }
}

type Notes = ReturnType<typeof createNotes>

/** Every route declares who may use it; one that does not stops the start. */
function addNoteRoutes(app: FastifyInstance, notes: Notes, maxLength: number): void {
  const NewNote = createSchema(maxLength)
  const entity = async (request: FastifyRequest) => notes.find(idOf(request) ?? 0)

  // The type of `request.body` comes from the schema.
  app.post('/api/notes', { config: { access: 'authenticated' }, schema: { body: NewNote } }, async (request, reply) =>
    reply.code(201).send({ data: await notes.write(principalOf(request).id, request.body.text) }),
  )

  app.get(
    '/api/notes/:id',
    { config: { access: ['authenticated', { policy: 'notes', action: 'view', entity }] } },
    async (request) => ({ data: request.entity }),
  )
}

export default defineFeature({
  name: 'notes',
  // NNNN-name.sql for both engines. One that was applied is never edited: add another.
  migrations: join(import.meta.dirname, 'migrations'),
  // notes.max_length in a file, or NOTES_MAX_LENGTH in the environment.
  config: {
    notes: { maxLength: key('notes.max_length', integer({ min: 1, max: 10_000 }), 1000, 'NOTES_MAX_LENGTH') },
  },
  create: createNotes,
  events: [noteWritten],
  policies: { notes: notePolicy },
  routes: (notes, config) => (app) => addNoteRoutes(app, notes, config.notes.maxLength),
  elements: (notes) => [
    objectType({ name: 'Note', fields: { id: 'ID!', text: 'String!' } }),
    query({
      name: 'notes',
      type: '[Note!]',
      access: 'authenticated',
      resolve: (_args, { principal }) => (principal ? notes.list(principal.id) : []),
    }),
  ],
})
