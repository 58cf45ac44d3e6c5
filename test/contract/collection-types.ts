/**
 * What TypeScript knows of collections: 30 right programs, and 30 wrong ones that it rejects. Checked with all other types by
 * `npm test`; nothing here runs.
 */
import { collection } from '../../src/collections/collection.ts'
import type { IncludeNames, NewRow, Row, RowChange, RowWith } from '../../src/collections/declare/collection.ts'
import {
  belongsTo,
  boolean,
  choice,
  computed,
  day,
  decimal,
  email,
  hasMany,
  integer,
  json,
  list,
  text,
  time,
  url,
} from '../../src/collections/declare/fields.ts'
import { all, any, can, me, never, now, onCreate, row, signedIn, through } from '../../src/collections/declare/rules.ts'
import { users } from '../../src/features/users/users.feature.ts'

declare function check<Type>(...values: Type[]): void

const teams = collection({
  name: 'teams',
  fields: {
    name: text({ min: 2, max: 80, unique: true }),
    owner: belongsTo(users, { default: me, writable: never }),
    members: list(belongsTo(users)),
  },
  rules: { read: any(row.owner.is(me), row.members.has(me)), create: signedIn, update: row.owner.is(me) },
})

const tickets = collection({
  name: 'tickets',
  fields: {
    title: text({ min: 2, max: 200 }),
    body: text({ max: 20_000, multiline: true, optional: true }),
    team: belongsTo(teams, { onDelete: 'refuse' }),
    author: belongsTo(users, { default: me, writable: never }),
    assignee: belongsTo(users, { optional: true, onDelete: 'clear' }),
    status: choice(['open', 'pending', 'closed'], { default: 'open' }),
    priority: integer({ min: 1, max: 5, default: 3 }),
    cost: decimal({ scale: 2, min: 0, optional: true, readable: can('tickets.costs'), writable: can('tickets.costs') }),
    urgent: boolean({ default: false }),
    tags: list(text({ max: 40 }), { max: 20 }),
    due: day({ optional: true }),
    seen: time({ default: now, writable: onCreate }),
    contact: email({ optional: true }),
    link: url({ optional: true }),
    extra: json({ optional: true }),
    shout: computed(text(), ({ title }) => `${title}!`),
    comments: hasMany(() => comments, 'ticket'),
  },
  rules: {
    read: any(row.author.is(me), row.team.members.has(me), can('tickets.view')),
    update: all(row.author.is(me), row.status.isNot('closed')),
  },
  sort: ['title', 'priority', 'due', 'updated_at'],
  filter: ['status', 'priority', 'team', 'assignee', 'author', 'tags', 'due'],
  search: ['title', 'body'],
  check: [row.due.gte(row.created_at), 'Must not be in the past'],
  keepDeleted: '30d',
  title: 'title',
})

const comments = collection({
  name: 'comments',
  fields: { ticket: belongsTo(tickets, { onDelete: 'delete' }), text: text({ min: 1, max: 5000 }) },
  rules: { read: through('ticket', 'read') },
  filter: ['ticket'],
})

type Ticket = Row<typeof tickets>
type NewTicket = NewRow<typeof tickets>
declare const ticket: Ticket

// 1 to 11: the values of a row.
check<number>(ticket.id, ticket.team, ticket.priority)
check<string>(ticket.title, ticket.created_at, ticket.updated_at, ticket.seen, ticket.shout)
check<string | null>(ticket.body, ticket.due, ticket.contact, ticket.link)
check<'open' | 'pending' | 'closed'>(ticket.status)
check<number | null>(ticket.assignee, ticket.cost)
check<string[]>(ticket.tags)
check<boolean>(ticket.urgent)
check<unknown>(ticket.extra)
check<number[]>((null as unknown as Row<typeof teams>).members)
check<number>((null as unknown as Row<typeof comments>).ticket)
check<Ticket>({ ...ticket, title: 'Another' })

// 12 to 19: new rows and changes.
check<NewTicket>({ title: 'Printer', team: 1 })
check<NewTicket>({ title: 'Printer', team: 1, status: 'closed', priority: 5, tags: ['a'], body: null, cost: 9.5 })
check<NewTicket>({ title: 'Printer', team: 1, urgent: true, due: '2026-01-31', extra: { any: ['thing'] } })
check<RowChange<typeof tickets>>({})
check<RowChange<typeof tickets>>({ status: 'pending', assignee: null })
check<NewRow<typeof teams>>({ name: 'Support' })
check<NewRow<typeof teams>>({ name: 'Support', members: [1, 2] })
check<NewRow<typeof comments>>({ ticket: 1, text: 'Done' })

// 20 to 25: included rows.
declare const whole: RowWith<typeof tickets, 'team' | 'author' | 'comments'>
check<string | undefined>(whole.included.team?.name, whole.included.author?.name, whole.included.comments[0]?.text)
check<number | undefined>(whole.included.team?.owner, whole.included.comments[0]?.ticket)
check<string>(whole.title)
check<string | undefined>(whole.included.author?.email)
check<IncludeNames<typeof tickets>>('team', 'author', 'assignee', 'comments')
check<IncludeNames<typeof comments>>('ticket')

// 26 to 30: declarations.
collection({ name: 'empty', fields: {} })
collection({
  name: 'people',
  singular: 'person',
  path: '/api/v3/people',
  fields: { name: text() },
  sort: ['id', 'name'],
})
collection({ name: 'days', fields: { on: day({ default: now }), count: integer({ min: 0 }) }, filter: ['on', 'count'] })
collection({
  name: 'nodes',
  fields: { label: text(), tags: list(choice(['a', 'b'])) },
  filter: ['tags'],
  keepDeleted: false,
})
collection({
  name: 'notes',
  fields: { text: text({ label: 'Text', help: 'What to remember', was: 'body' }) },
  search: ['text'],
})

// 1 to 8: values that a row does not have.
// @ts-expect-error
ticket.nothing
// @ts-expect-error
check<number>(ticket.title)
// @ts-expect-error
check<string>(ticket.body)
// @ts-expect-error
check<'open' | 'closed'>(ticket.status)
// @ts-expect-error
check<number>(ticket.cost)
// @ts-expect-error
ticket.comments
// @ts-expect-error
check<number[]>(ticket.tags)
// @ts-expect-error
check<string>(ticket.team)

// 9 to 17: new rows and changes that cannot be.
// @ts-expect-error
check<NewTicket>({ team: 1 })
// @ts-expect-error
check<NewTicket>({ title: 'Printer' })
// @ts-expect-error
check<NewTicket>({ title: 'Printer', team: 1, author: 3 })
// @ts-expect-error
check<NewTicket>({ title: 'Printer', team: 1, status: 'done' })
// @ts-expect-error
check<NewTicket>({ title: 'Printer', team: 'support' })
// @ts-expect-error
check<NewTicket>({ title: 'Printer', team: 1, nothing: true })
// @ts-expect-error
check<NewTicket>({ title: null, team: 1 })
// @ts-expect-error
check<NewTicket>({ title: 'Printer', team: 1, shout: 'Printer!' })
// @ts-expect-error
check<RowChange<typeof tickets>>({ tags: 'a' })

// 18 to 21: what is not included, or not there.
// @ts-expect-error
whole.included.assignee
// @ts-expect-error
check<IncludeNames<typeof tickets>>('title')
// @ts-expect-error
whole.included.team?.text
// @ts-expect-error
check<RowWith<typeof tickets, 'nothing'>>()

// 22 to 26: lists by what is no field, or has no order.
// @ts-expect-error
collection({ name: 'notes', fields: { text: text() }, sort: ['title'] })
// @ts-expect-error
collection({ name: 'notes', fields: { tags: list(text()) }, sort: ['tags'] })
// @ts-expect-error
collection({ name: 'notes', fields: { text: text() }, filter: ['nothing'] })
// @ts-expect-error
collection({ name: 'notes', fields: { count: integer() }, search: ['count'] })
// @ts-expect-error
collection({ name: 'notes', fields: { text: text() }, title: 'nothing' })

// 27 to 30: options that do not fit, relations to nothing, and rules that are none.
// @ts-expect-error
integer({ default: 'three' })
// @ts-expect-error
choice(['open', 'closed'], { default: 'pending' })
// @ts-expect-error
belongsTo(undefined)
// @ts-expect-error
collection({ name: 'notes', fields: { text: text() }, rules: { read: 'everybody' } })
