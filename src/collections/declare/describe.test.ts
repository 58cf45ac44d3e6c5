import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeRule } from '../rules/sentence.ts'
import { type CollectionDeclaration, describeCollections } from './describe.ts'
import { belongsTo, choice, computed, day, decimal, hasMany, integer, json, list, text, time } from './fields.ts'
import { after, all, any, can, me, not, type Rule, role, row, signedIn, through } from './rules.ts'

const users = { name: 'users' } as never
const teams = {
  name: 'teams',
  fields: { name: text(), owner: belongsTo(users), members: list(belongsTo(users)) },
  rules: { read: row.owner.is(me) as Rule },
}
const fields = {
  title: text(),
  status: choice(['open', 'closed']),
  priority: integer(),
  due: day(),
  seen: time(),
  extra: json(),
  cost: decimal({ scale: 2 }),
  price: decimal({ scale: 3 }),
  team: belongsTo(teams as never),
  author: belongsTo(users),
  tags: list(text()),
  shout: computed(text(), ({ title }) => `${title}!`),
  comments: hasMany(() => comments, 'ticket'),
}

const comments = { name: 'comments', fields: { ticket: belongsTo((() => tickets) as never) } }
let tickets: CollectionDeclaration

function describeWith(change: Partial<CollectionDeclaration>) {
  tickets = { name: 'tickets', fields, ...change }
  return describeCollections([teams, comments, tickets], (target) => {
    if (target === users) return 'users'
    if (typeof target === 'function') return target()
    return target === teams || target === comments ? target : undefined
  })
}

test('a rule that cannot work is refused with what is wrong', () => {
  const wrong: [rule: Rule, reason: string][] = [
    [row.nothing.is(1), 'names "nothing", which is no field'],
    [row.team.nothing.is(1), 'names "team.nothing", which is no field'],
    [row.team.owner.name.is('Ada'), 'names "team.owner.name", which is no field'],
    [row.title.name.is('Ada'), 'names "title.name", which is no field'],
    [row.shout.is('x'), 'names "shout", which is not stored'],
    [row.comments.is(1), 'names "comments", which is not stored'],
    [row.extra.is('x'), 'compares "extra", which has no order and no equality'],
    [row.tags.is('x'), 'compares the list "tags": use `has`'],
    [row.title.has('x'), 'uses `has` on "title", which is no list'],
    [row.priority.is('1'), 'compares "priority" with something of another type'],
    [row.title.is(me), 'compares "title" with something of another type'],
    [row.priority.in([1, 'two']), 'compares "priority" with something of another type'],
    [row.title.is(row.priority), 'compares "title" with something of another type'],
    [through('title', 'read'), 'goes through "title", which is no relation'],
    [through('author', 'read'), 'goes through "author", but users have no such rules'],
    [after.title.is('x'), 'names `after.title`, which only `update` has'],
    [row.flag, 'is no rule'],
    [any(row.title), 'is no rule'],
    [row.status.isNot('closd'), 'compares "status" with "closd", which is none of its values'],
    [row.due.lt('tomorrow'), 'compares "due" with "tomorrow", which is no day'],
    [row.seen.lt('yesterday'), 'compares "seen" with "yesterday", which is no time'],
    [row.cost.lt(row.price), 'compares "cost" with something of another type'],
    [any(signedIn, all(not(row.nothing.isNull()))), 'names "nothing", which is no field'],
  ]
  for (const [rule, reason] of wrong) {
    assert.throws(() => describeWith({ rules: { read: rule } }), {
      message: `collection tickets: the rule "read" ${reason}`,
    })
  }
  assert.throws(
    () => describeWith({ rules: { create: row.id.is(1) } }),
    /names "id", which a new row does not have yet/,
  )
  assert.throws(() => row.author.is({ id: 5 }), /compares a field with a value, another field, or `me`/)
  describeWith({ rules: { update: all(after.title.is('x'), row.due.gte(row.seen), row.team.members.has(me)) } })
})

test('rules may not go through themselves', () => {
  const parent = { name: 'parents', fields: {}, rules: { read: through('child', 'read') } }
  const child = {
    name: 'children',
    fields: { parent: belongsTo(parent as never) },
    rules: { read: through('parent', 'read') },
  }
  Object.assign(parent.fields, { child: belongsTo(child as never) })
  assert.throws(() => describeCollections([parent, child], (target) => target as CollectionDeclaration), {
    message: 'collection parents: the rule "read" goes through itself: parents.read → children.read → parents.read',
  })
})

test('a declaration with a wrong name, or a relation to nothing, is refused', () => {
  const wrong: [change: Partial<CollectionDeclaration>, message: RegExp][] = [
    [{ name: 'Tickets' }, /collection Tickets: a name has lower-case words, joined by hyphens/],
    [{ singular: "x'y" }, /`singular` has lower-case words/],
    [{ name: 'teams' }, /collection teams: there are two of this name/],
    [{ name: 'a'.repeat(41) }, /a name has at most 40 characters/],
    [{ fields: { [`a${'b'.repeat(40)}`]: text() } }, /has a name of more than 40 characters/],
    [{ fields: { [`a${'b'.repeat(38)}`]: list(text()) } }, /has a name of more than 38 characters/],
    [{ fields: { Title: text() } }, /collection tickets: the field "Title" is not lower-case words/],
    [{ fields: { version: text() } }, /collection tickets: no field can have the name "version"/],
    [{ fields: { is: text() } }, /collection tickets: no field can have the name "is"/],
    [{ fields: { owner: belongsTo({} as never) } }, /the field "owner" refers to what is no collection here/],
  ]
  for (const [change, message] of wrong) assert.throws(() => describeWith(change), message)
})

test('rules read as sentences', () => {
  const sentences: [rule: Rule, sentence: string][] = [
    [
      any(row.author.is(me), row.team.members.has(me), can('tickets.view')),
      'author is you or members of the team include you or you have the permission tickets.view',
    ],
    [
      all(row.author.is(me), any(row.status.isNot('closed'), role('admin'))),
      'author is you and (status is not closed or you have the role admin)',
    ],
    [all(row.priority.gte(3), row.due.isNull()), 'priority is at least 3 and due is empty'],
    [not(row.status.in(['open', 'closed'])), 'not (status is one of open, closed)'],
    [through('team', 'read'), 'you may read its team'],
    [after.priority.lt(row.priority), 'the new priority is less than priority'],
    [any(), 'no one'],
    [all(), 'everyone'],
    [signedIn, 'you are signed in'],
  ]
  for (const [rule, sentence] of sentences) assert.equal(describeRule(rule), sentence)
})
