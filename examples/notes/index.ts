/** Notes: an extension of Latchkey. To load it, add this folder to `extensions` in the configuration. */
import { join } from 'node:path'
import {
  defineEvent,
  defineFeature,
  type FastifyInstance,
  type FastifyRequest,
  field,
  html,
  type Infrastructure,
  idOf,
  integer,
  key,
  type PageKit,
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

/** The request body. It is validated before the handler runs, and documented in /docs. */
const createSchema = (maxLength: number) => Type.Object({ text: Type.String({ 'x-not-blank': true, maxLength }) })

/** Features can listen to it: `on(noteWritten, …)`. */
export const noteWritten = defineEvent<Note>('NoteWritten')

/** Who may do what with a note. Routes and GraphQL elements require it by name. */
const notePolicy: Policy<Note> = {
  view: (user, note) => user?.id === note.user_id || user?.can('notes.view') === true,
}

/** The service of the feature, shared by REST, GraphQL, pages and commands. */
function createNotes({ db, clock, events }: Infrastructure) {
  return {
    find: (id: number) => db.get<Note>('SELECT id, user_id, text FROM notes WHERE id = $1', [id]),
    list: (userId: number) =>
      db.all<Note>('SELECT id, user_id, text FROM notes WHERE user_id = $1 ORDER BY id', [userId]),

    async write(userId: number, text: string): Promise<Note> {
      // The statements of a `write` are one transaction; it resolves once that is durable.
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

/** Every route must declare its access; otherwise the service does not start. */
function addNoteRoutes(app: FastifyInstance, notes: Notes, maxLength: number): void {
  const NewNote = createSchema(maxLength)
  const entity = async (request: FastifyRequest) => notes.find(idOf(request) ?? 0)

  // The type of `request.body` comes from the schema.
  app.post(
    '/api/notes',
    { config: { access: ['authenticated', { keyPermission: 'notes.create' }] }, schema: { body: NewNote } },
    async (request, reply) =>
      reply.code(201).send({ data: await notes.write(principalOf(request).id, request.body.text) }),
  )

  app.get(
    '/api/notes/:id',
    { config: { access: ['authenticated', { policy: 'notes', action: 'view', entity }] } },
    async (request) => ({ data: request.entity }),
  )
}

/** Below /console. The session, the form token and the error pages are added for them. */
function addNotePages(
  app: FastifyInstance,
  notes: Notes,
  { maxLength, send, notices }: PageKit & { maxLength: number },
) {
  const config = { access: 'authenticated', docs: false } as const

  app.get('/notes', { config }, async (request, reply) => {
    const written = await notes.list(principalOf(request).id)
    return send(request, reply, {
      title: 'Notes',
      content: html`<h1>Notes</h1>
<form class="card" method="post" action="/console/notes">
${field({ label: 'Text', name: 'text', required: true, maxlength: maxLength })}
<button>Add note</button>
</form>
<ul>${written.map(({ text }) => html`<li>${text}</li>`)}</ul>`,
    })
  })

  app.post('/notes', { config, schema: { body: createSchema(maxLength) } }, async (request, reply) => {
    await notes.write(principalOf(request).id, request.body.text)
    return notices.redirect(reply, { address: '/console/notes', notice: 'note-added' })
  })
}

export default defineFeature({
  name: 'notes',
  // NNNN-name.sql for both engines. Never edit an applied migration; add another.
  migrations: join(import.meta.dirname, 'migrations'),
  // notes.max_length in an .mlc file, or NOTES_MAX_LENGTH in the environment.
  config: {
    notes: { maxLength: key('notes.max_length', integer({ min: 1, max: 10_000 }), 1000, 'NOTES_MAX_LENGTH') },
  },
  create: createNotes,
  events: [noteWritten],
  policies: { notes: notePolicy },
  routes: (notes, config) => (app) => addNoteRoutes(app, notes, config.notes.maxLength),
  pages: (notes, config) => ({
    navigation: [{ path: '/console/notes', name: 'Notes' }],
    notices: { 'note-added': 'Note added.' },
    routes: (kit) => (app) => addNotePages(app, notes, { ...kit, maxLength: config.notes.maxLength }),
  }),
  elements: (notes) => [
    objectType({ name: 'Note', fields: { id: 'ID!', text: 'String!' } }),
    query({
      name: 'notes',
      type: '[Note!]',
      // An API key with a list of permissions needs this one.
      access: ['authenticated', { keyPermission: 'notes.read' }],
      resolve: (_args, { principal }) => (principal ? notes.list(principal.id) : []),
    }),
  ],
})
