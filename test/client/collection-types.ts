/** What TypeScript knows of the client's collections: right programs, and wrong ones that it rejects. Nothing here runs. */
import type { Latchkey } from '../../packages/client/src/index.ts'

declare const latchkey: Latchkey<typeof import('../../examples/helpdesk/helpdesk.ts')>
declare function check<Type>(...values: Type[]): void

const tickets = latchkey.collection('tickets')

export async function right(): Promise<void> {
  const { data, meta, cursor } = await tickets.list({
    filter: {
      status: ['open', 'pending'],
      team: 5,
      assignee: null,
      priority: { gte: 3 },
      tags: 'paper',
      due: { lt: '2027-01-01' },
    },
    sort: '-priority',
    q: 'printer',
    include: ['team', 'comments.author'],
    count: 'exact',
  })
  check<string | null>(cursor, meta.next)
  for (const ticket of data) {
    check<'open' | 'pending' | 'closed'>(ticket.status)
    check<number | null>(ticket.assignee, ticket.cost, meta.total)
    check<string | undefined>(ticket.included.team?.name)
  }
  const [plain] = (await tickets.list({ sort: 'id' })).data
  check<string | undefined>(plain?.title)
  const made = await tickets.create({ title: 'Printer', team: 1 })
  check<string | undefined>(made.etag, made.created_at)
  await tickets.update(made.id, { status: 'closed', due: null }, { ifMatch: made.etag ?? '' })
  const read = await tickets.get(1, { include: ['author'] })
  check<string | undefined>(read.included.author?.name)
  for await (const { row, type } of tickets.changes(cursor)) check<string | undefined>(type, row?.title)
  const copy = tickets.copy()
  check<string | undefined>(copy.rows.get(1)?.title)
  await latchkey.collection('comments').create({ ticket: 1, text: 'Done' })
  const anything = (null as unknown as Latchkey).collection('whatever')
  await anything.list({ filter: { anything: 1 }, sort: '-anything' })
}

export async function wrong(): Promise<void> {
  // @ts-expect-error there is no such collection
  latchkey.collection('ticket')
  // @ts-expect-error nor such a field to filter by
  await tickets.list({ filter: { title: 'Printer' } })
  // @ts-expect-error the value is none of its choices
  await tickets.list({ filter: { status: 'lost' } })
  // @ts-expect-error a number is no text
  await tickets.list({ filter: { priority: 'high' } })
  // @ts-expect-error the list cannot be sorted by it
  await tickets.list({ sort: 'body' })
  // @ts-expect-error it is no relation
  await tickets.list({ include: ['title'] })
  // @ts-expect-error the title is missing
  await tickets.create({ team: 1 })
  // @ts-expect-error nobody sets the author
  await tickets.create({ title: 'Printer', team: 1, author: 1 })
  // @ts-expect-error a relation is an id
  await tickets.create({ title: 'Printer', team: 'Support' })
  // @ts-expect-error there is no such field
  await tickets.update(1, { nothing: 1 })
  // @ts-expect-error the title is never null
  await tickets.update(1, { title: null })
  const [ticket] = (await tickets.list({ include: ['team'] })).data
  // @ts-expect-error it was not included
  check(ticket?.included.author)
  // @ts-expect-error teams have no title
  check(ticket?.included.team?.title)
}
