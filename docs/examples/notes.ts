/** The example of docs/authorization.md: notes that only their author may change. */
import { type FastifyInstance, type FastifyRequest, idOf, type Policy, principalOf } from 'latchkey/feature'

export interface Note {
  id: number
  authorId: number
  text: string
}

export const notePolicy: Policy<Note> = {
  view: () => true,
  update: (user, note) => user?.id === note.authorId,
  delete: (user, note) => user?.id === note.authorId || user?.can('notes.delete') === true,
}

const notes = new Map<number, Note>()

export async function noteRoutes(app: FastifyInstance): Promise<void> {
  const entity = async (request: FastifyRequest) => notes.get(idOf(request) ?? 0)

  app.post<{ Body: { text: string } }>(
    '/notes',
    { config: { access: ['authenticated', { keyPermission: 'notes.create' }] } },
    async (request, reply) => {
      const note = { id: notes.size + 1, authorId: principalOf(request).id, text: request.body.text }
      notes.set(note.id, note)
      return reply.code(201).send({ data: note })
    },
  )

  app.get('/notes/:id', { config: { access: { policy: 'notes', action: 'view', entity } } }, async (request) => ({
    data: request.entity,
  }))

  app.delete(
    '/notes/:id',
    { config: { access: ['authenticated', { policy: 'notes', action: 'delete', entity }] } },
    async (request, reply) => {
      notes.delete((request.entity as Note).id)
      return reply.code(204).send()
    },
  )
}

export async function reportRoutes(app: FastifyInstance): Promise<void> {
  app.requireForAll('authenticated')

  app.get('/reports/daily', { config: { access: { permission: 'reports.view' } } }, async () => ({ data: 'fine' }))
  app.get('/reports/secret', { config: { access: { role: 'admin' } } }, async () => ({ data: 'not so fine' }))
}
