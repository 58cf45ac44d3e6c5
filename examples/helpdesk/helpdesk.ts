import { users } from 'latchkey'
import {
  all,
  any,
  belongsTo,
  can,
  choice,
  collection,
  day,
  decimal,
  hasMany,
  integer,
  list,
  me,
  never,
  row,
  signedIn,
  text,
  through,
} from 'latchkey/collections'

export const teams = collection({
  name: 'teams',
  fields: {
    name: text({ min: 2, max: 80, unique: true }),
    owner: belongsTo(users, { default: me, writable: never }),
    members: list(belongsTo(users)),
  },
  rules: {
    read: any(row.owner.is(me), row.members.has(me)),
    create: signedIn,
    update: row.owner.is(me),
    delete: row.owner.is(me),
  },
})

export const tickets = collection({
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
    tags: list(text({ max: 40 }), { max: 20 }),
    due: day({ optional: true }),
    comments: hasMany(() => comments, 'ticket'),
  },
  rules: {
    read: any(row.author.is(me), row.team.members.has(me), can('tickets.view')),
    create: signedIn,
    update: any(all(row.author.is(me), row.status.isNot('closed')), can('tickets.update')),
    delete: can('tickets.delete'),
  },
  sort: ['title', 'priority', 'due', 'updated_at'],
  filter: ['status', 'priority', 'team', 'assignee', 'author', 'tags', 'due'],
  search: ['title', 'body'],
})

export const comments = collection({
  name: 'comments',
  fields: {
    ticket: belongsTo(tickets, { onDelete: 'delete' }),
    author: belongsTo(users, { default: me, writable: never }),
    text: text({ min: 1, max: 5000 }),
  },
  rules: {
    read: through('ticket', 'read'),
    create: through('ticket', 'read'),
    update: row.author.is(me),
    delete: row.author.is(me),
  },
  filter: ['ticket'],
})

export default [teams, tickets, comments]
