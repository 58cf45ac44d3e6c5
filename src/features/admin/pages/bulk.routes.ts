/** Forms that do the same to several users: each under the rules of the single action, with its own audit entry. */
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../../core/app-error.ts'
import { parseId } from '../../../platform/http/ids.ts'
import { type ListParameters, withoutBlanks } from '../../../platform/pages/components/list-links.ts'
import type { PageKit } from '../../../platform/pages/console-pages.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import { mayUpdatePages } from '../admin.access.ts'
import type { AdminService } from '../admin.create.ts'
import type { Actor } from '../admin.service.ts'
import type { ListedUser } from '../admin.store.ts'
import { actorOf } from '../request-actor.ts'
import { type BulkAct, type BulkResult, bulkQuestionPage, bulkResultPage, nobodySelectedPage } from './bulk.views.ts'
import { inOtherWords } from './refusal-words.ts'

/** As many as a page can have. */
const maxUsers = 100
const Text = Type.Optional(Type.String({ default: '' }))
const Selection = Type.Object({
  pick: Type.Optional(Type.Array(Type.String(), { default: [] })),
  back: Text,
  confirmed: Text,
})

type Act = (actor: Actor, id: number) => Promise<unknown>

export function addBulkPages(app: FastifyInstance, { admin, people, send }: PageKit & AdminService): void {
  const acts: Readonly<Record<BulkAct, { act: Act; audit: string }>> = {
    disable: { act: (actor, id) => people.change(actor, id, { disabled: true }), audit: 'user_disabled' },
    'sign-out': { act: admin.endSessions, audit: 'sessions_ended' },
  }

  async function find(given: readonly string[]): Promise<ListedUser[]> {
    const ids = [...new Set(given.slice(0, maxUsers))].map(parseId)
    const found = await Promise.all(ids.map(admin.find))
    return found.filter((user) => user !== undefined)
  }

  for (const [name, { act, audit }] of Object.entries(acts) as [BulkAct, { act: Act; audit: string }][]) {
    app.post(
      `/users/bulk/${name}`,
      { config: { ...mayUpdatePages, audit }, schema: { body: Selection } },
      async (request, reply) => {
        const { body } = request
        const back = readBack(body.back)
        const users = await find(body.pick)
        if (users.length === 0) return send(request, reply, nobodySelectedPage(back), 422)
        if (body.confirmed !== 'true') return send(request, reply, bulkQuestionPage({ act: name, users, back }))
        const result = await actOnEach(users, actorOf(request), act)
        return send(request, reply, bulkResultPage({ act: name, back, ...result }))
      },
    )
  }
}

/** One after another: two at once could each find the other to be the last administrator but one. */
async function actOnEach(users: readonly ListedUser[], actor: Actor, act: Act): Promise<BulkResult> {
  const done: ListedUser[] = []
  const refused: [ListedUser, string][] = []
  for (const user of users) {
    try {
      if (user.id === actor.id) refused.push([user, 'This is you. Use your account page.'])
      else {
        await act(actor, user.id)
        done.push(user)
      }
    } catch (error) {
      const reworded = inOtherWords(error)
      if (!(reworded instanceof AppError) || reworded.status >= 500) throw error
      refused.push([user, reworded.status === 404 ? 'This user is gone.' : reworded.message])
    }
  }
  return { done, refused }
}

/** The parameters of the list. Whatever they are, they only lead to that list. */
function readBack(text: string): ListParameters {
  return withoutBlanks(Object.fromEntries(new URLSearchParams(text)))
}
