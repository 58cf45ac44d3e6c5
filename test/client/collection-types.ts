/**
 * What TypeScript knows of the client's collections: 30 right programs, and 30 wrong ones that it rejects. Checked with all other
 * types by `npm test`; nothing here runs.
 */
import type * as helpdesk from '../../examples/helpdesk/helpdesk.ts'
import type { Latchkey } from '../../packages/client/src/index.ts'
import { belongsTo, collection, hasMany, type NewRow, type Row, text } from '../../src/public/collections.ts'

declare const latchkey: Latchkey<typeof import('../../examples/helpdesk/helpdesk.ts')>
declare function check<Type>(...values: Type[]): void

const tickets = latchkey.collection('tickets')

export const folders = collection({
  name: 'folders',
  fields: {
    title: text(),
    parent: belongsTo(() => folders, { optional: true }),
    children: hasMany(() => folders, 'parent'),
  },
})

export async function right(): Promise<void> {
  // 1 to 10: lists.
  const { data, meta, cursor } = await tickets.list({ filter: { status: 'open' }, include: ['team'] })
  check<string | null>(cursor, meta.next, meta.prev)
  for (const ticket of data) {
    check<'open' | 'pending' | 'closed'>(ticket.status)
    check<number | null>(ticket.assignee, ticket.cost, meta.total)
    check<string | undefined>(ticket.included.team?.name)
  }
  check<string | undefined>((await tickets.list()).data[0]?.title)
  await tickets.list({ filter: { status: ['open', 'pending'], team: 5, assignee: null, author: [1, null] } })
  await tickets.list({ filter: { priority: { gte: 3, lt: 5 }, due: { lt: '2027-01-01' } } })
  await tickets.list({ filter: { priority: 3, due: null, tags: 'paper' } })
  const filter = { tags: ['paper', 'toner'], priority: { gt: 1 } } as const
  await tickets.list({ filter, sort: '-priority' })
  await tickets.list({ sort: 'updated_at', q: 'printer', count: 'exact', per_page: 50 })
  await tickets.list({ sort: '-id', page: 2 })
  await tickets.list({ cursor })
  await latchkey.collection('comments').list({ filter: { ticket: 1 } })

  // 11 to 16: what is included, up to three levels deep.
  const [whole] = (await tickets.list({ include: ['comments.author', 'team.owner', 'assignee'] })).data
  check<string | undefined>(whole?.included.comments[0]?.included.author?.name)
  check<string | undefined>(whole?.included.team?.included.owner?.email, whole?.included.assignee?.name)
  const [comment] = (await latchkey.collection('comments').list({ include: ['ticket.team.members'] })).data
  check<string | undefined>(comment?.included.ticket?.included.team?.included.members[0]?.name)
  const [team] = (await latchkey.collection('teams').list({ include: ['members'] })).data
  check<string | undefined>(team?.included.members[0]?.name)
  check<string | undefined>((await tickets.get(1, { include: ['author'] })).included.author?.name)

  // 17 to 27: single rows, changes and copies.
  const values: NewRow<typeof helpdesk.tickets> = { title: 'Printer', team: 1, tags: ['paper'], due: '2026-12-24' }
  const made = await tickets.create(values)
  check<Row<typeof helpdesk.tickets>>(made)
  check<string | undefined>(made.etag, made.created_at)
  await tickets.update(made.id, { status: 'closed', due: null }, { ifMatch: made.etag ?? '' })
  await tickets.delete(made.id)
  check<number>((await tickets.restore(made.id)).priority)
  for (const { type, changes } of await tickets.versions(1)) check<[unknown, unknown] | undefined>(changes[type])
  for await (const { row, type } of tickets.changes(cursor)) check<string | undefined>(type, row?.title)
  const copy = tickets.copy({ onChange: () => {} })
  check<string | undefined>(copy.rows.get(1)?.title)
  await copy.create({ title: 'Printer', team: 1 })
  await copy.update(1, { priority: 5 })

  // 28 to 30: collections that refer to themselves, and those of which nothing is known.
  check<Row<typeof folders>>({ id: 1, created_at: '', updated_at: '', title: '', parent: null })
  const anything = (null as unknown as Latchkey).collection('whatever')
  await anything.list({ filter: { anything: 1 }, sort: '-anything', include: ['anything'] })
  await anything.create({ anything: true })
}

export async function wrong(): Promise<void> {
  // 1 to 12: lists.
  // @ts-expect-error there is no such collection
  latchkey.collection('ticket')
  // @ts-expect-error nor such a field to filter by
  await tickets.list({ filter: { title: 'Printer' } })
  // @ts-expect-error the value is none of its choices
  await tickets.list({ filter: { status: 'lost' } })
  // @ts-expect-error nor is one of several
  await tickets.list({ filter: { status: ['open', 'lost'] } })
  // @ts-expect-error a choice has no bounds
  await tickets.list({ filter: { status: { gt: 'open' } } })
  // @ts-expect-error a number is no text
  await tickets.list({ filter: { priority: 'high' } })
  // @ts-expect-error nor are its bounds
  await tickets.list({ filter: { priority: { gte: '3' } } })
  // @ts-expect-error there is no such bound
  await tickets.list({ filter: { priority: { over: 3 } } })
  // @ts-expect-error a relation has no bounds
  await tickets.list({ filter: { team: { gte: 3 } } })
  // @ts-expect-error the list cannot be sorted by it
  await tickets.list({ sort: 'body' })
  // @ts-expect-error there is no such field to sort by
  await tickets.list({ sort: '-nothing' })
  // @ts-expect-error there is no such parameter
  await tickets.list({ order: 'title' })

  // 13 to 18: what is included.
  // @ts-expect-error it is no relation
  await tickets.list({ include: ['title'] })
  // @ts-expect-error the team has no such relation
  await tickets.list({ include: ['team.comments'] })
  // @ts-expect-error there is nothing below users
  await tickets.get(1, { include: ['author.teams'] })
  // @ts-expect-error these are four levels
  await tickets.list({ include: ['comments.ticket.comments.ticket'] })
  const [ticket] = (await tickets.list({ include: ['team'] })).data
  // @ts-expect-error it was not included
  check(ticket?.included.author)
  // @ts-expect-error teams have no title
  check(ticket?.included.team?.title)

  // 19 to 30: single rows, changes and copies.
  // @ts-expect-error the title is missing
  await tickets.create({ team: 1 })
  // @ts-expect-error nobody sets the author
  await tickets.create({ title: 'Printer', team: 1, author: 1 })
  // @ts-expect-error a relation is an id
  await tickets.create({ title: 'Printer', team: 'Support' })
  // @ts-expect-error items are texts
  await tickets.create({ title: 'Printer', team: 1, tags: [1] })
  // @ts-expect-error the comments are rows of their own
  await tickets.create({ title: 'Printer', team: 1, comments: [] })
  // @ts-expect-error there is no such field
  await tickets.update(1, { nothing: 1 })
  // @ts-expect-error the title is never null
  await tickets.update(1, { title: null })
  // @ts-expect-error the id stays
  await tickets.update(1, { id: 2 })
  // @ts-expect-error an id is a number
  await tickets.restore('1')
  // @ts-expect-error rows of the log have no such field
  for await (const { row } of tickets.changes()) check(row?.nothing)
  // @ts-expect-error the team is missing
  await tickets.copy().create({ title: 'Printer' })
  // @ts-expect-error nothing was included
  check((await tickets.list()).data[0]?.included)
}
