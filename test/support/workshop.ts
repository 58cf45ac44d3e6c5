/** Collections with fields, rules and hooks of every kind. */
import { collection } from '../../src/collections/collection.ts'
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
import {
  after,
  all,
  any,
  can,
  everybody,
  me,
  never,
  now,
  onCreate,
  row,
  signedIn,
  through,
} from '../../src/collections/declare/rules.ts'
import { AppError } from '../../src/core/app-error.ts'
import { users } from '../../src/features/users/users.feature.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import type { Feature } from '../../src/platform/feature.ts'
import { type ApiOptions, type Owner, shareService } from './api.ts'
import { temporaryFolder } from './databases.ts'
import { startApiWithRoles } from './roles.ts'

/** Called while a tally is written. */
export interface Interruption {
  beforeWrite?(): Promise<void>
}

export function declareWorkshop(migrations: string, interruption: Interruption = {}): Feature[] {
  const makers = collection({
    name: 'makers',
    migrations,
    fields: {
      name: text({ min: 2, max: 80, unique: true }),
      owner: belongsTo(users, { default: me, writable: never }),
      members: list(belongsTo(users)),
      parts: hasMany(() => parts, 'maker'),
    },
    rules: {
      read: any(row.owner.is(me), row.members.has(me)),
      create: signedIn,
      update: row.owner.is(me),
      delete: row.owner.is(me),
    },
    sort: ['name'],
  })

  const parts = collection({
    name: 'parts',
    migrations,
    fields: {
      name: text({ min: 2, max: 50 }),
      code: text({ max: 20, optional: true, unique: true }),
      maker: belongsTo(makers, { optional: true }),
      slot: integer({ min: 1, max: 9, optional: true, uniqueWithin: 'maker' }),
      owner: belongsTo(users, { default: me, writable: never }),
      origin: text({ max: 20, optional: true, writable: onCreate }),
      grade: choice(['a', 'b', 'c'], { default: 'b' }),
      cost: decimal({ scale: 2, min: 0, optional: true, readable: can('parts.costs'), writable: can('parts.costs') }),
      note: text({ max: 50, optional: true, readable: row.owner.is(me) }),
      secret: integer({ optional: true, readable: never, writable: never, default: 7 }),
      weight: decimal({ scale: 3, optional: true }),
      active: boolean({ default: true }),
      made_at: time({ default: now }),
      due: day({ optional: true }),
      sold: day({ optional: true }),
      contact: email({ optional: true }),
      site: url({ optional: true }),
      data: json({ optional: true }),
      tags: list(text({ max: 10 }), { max: 3 }),
      sizes: list(integer({ min: 1 })),
      helpers: list(belongsTo(users)),
      slug: computed(text(), ({ name }) => name.toLowerCase().replaceAll(' ', '-'), { stored: true }),
      title: computed(text(), ({ name, grade }) => `${name} (${grade})`),
      reviews: hasMany(() => reviews, 'part'),
    },
    rules: {
      read: any(row.owner.is(me), row.maker.members.has(me), can('parts.view')),
      create: signedIn,
      update: any(all(row.owner.is(me), row.grade.isNot('c')), can('parts.update')),
      delete: any(row.owner.is(me), can('parts.delete')),
    },
    check: [row.sold.gte(row.due), 'Must not be before it is due'],
    sort: ['name', 'grade', 'weight', 'active', 'made_at', 'due', 'slug', 'cost', 'maker', 'updated_at'],
    filter: [
      'grade',
      'weight',
      'active',
      'made_at',
      'due',
      'maker',
      'owner',
      'tags',
      'sizes',
      'helpers',
      'slug',
      'cost',
      'note',
      'name',
      'slot',
    ],
    search: ['name', 'slug'],
    roles: {
      accountant: ['parts.costs', 'parts.view'],
      inspector: ['parts.view', 'parts.update'],
      remover: ['parts.delete', 'parts.update'],
    },
  })

  const reviews = collection({
    name: 'reviews',
    migrations,
    fields: {
      part: belongsTo(parts, { onDelete: 'delete' }),
      author: belongsTo(users, { default: me, writable: never }),
      text: text({ max: 500 }),
      is_private: boolean({ default: false }),
      about: belongsTo(makers, { optional: true, onDelete: 'clear' }),
    },
    rules: {
      read: any(row.author.is(me), all(row.is_private.is(false), through('part', 'read'))),
      create: through('part', 'read'),
      update: row.author.is(me),
      delete: row.author.is(me),
    },
    check: [row.about.name.isNot('Banned'), 'Must not be banned'],
    filter: ['part'],
  })

  /** A tree, whose nodes keep leaves that hang between two of them. */
  const nodes: Feature = collection({
    name: 'nodes',
    migrations,
    fields: {
      name: text({ max: 20 }),
      parent: belongsTo((): Feature => nodes, { optional: true, onDelete: 'delete' }),
      source: belongsTo((): Feature => nodes, { optional: true, onDelete: 'delete' }),
      keeper: belongsTo(users, { optional: true, onDelete: 'delete' }),
    },
    rules: { read: signedIn, create: signedIn, update: signedIn, delete: signedIn },
    keepDeleted: '2d',
  })
  const leaves = collection({
    name: 'leaves',
    singular: 'leaf',
    migrations,
    fields: {
      name: text({ max: 20, optional: true, unique: true }),
      node: belongsTo(nodes, { optional: true, onDelete: 'delete' }),
      other: belongsTo(nodes, { optional: true, onDelete: 'refuse' }),
      near: belongsTo(nodes, { optional: true, onDelete: 'clear' }),
    },
    rules: { read: signedIn, create: signedIn, update: signedIn, delete: signedIn },
  })

  /** Anybody reads and writes them. They are not kept. */
  const notices = collection({
    name: 'notices',
    path: '/api/board/notices',
    migrations,
    fields: {
      draft: text({ max: 100, optional: true, readable: can('notices.drafts') }),
      text: text({ max: 100 }),
      is_open: boolean({ default: true }),
      author: belongsTo(users, { default: me, optional: true, writable: never }),
    },
    rules: {
      read: everybody,
      create: everybody,
      update: row.is_open.is(true),
      delete: any(row.author.is(me), can('notices.delete')),
    },
    keepDeleted: false,
    sort: ['text'],
    search: ['text', 'draft'],
  })

  /** A tally goes up by what is added to it. */
  const tallies = collection({
    name: 'tallies',
    migrations,
    fields: {
      name: text({ max: 20 }),
      add: integer({ default: 0 }),
      total: integer({ default: 0, writable: never }),
      limit: integer({ default: 100 }),
    },
    rules: { read: signedIn, create: signedIn, update: after.limit.lte(1000), delete: signedIn },
    async beforeWrite({ before, after }) {
      await interruption.beforeWrite?.()
      if (after.name === 'Forbidden') throw new AppError(409, 'Not this one')
      if (before && before.add === after.add) return
      return { total: (before?.total ?? 0) + after.add }
    },
    alongside({ before, after: next }) {
      if (!next) return [{ sql: 'SELECT 1 AS ok WHERE $1 = 0', params: [before?.total ?? 0], decides: true }]
      const { total, limit } = next
      return [
        { sql: 'SELECT 1 AS ok WHERE CAST($1 AS BIGINT) <= CAST($2 AS BIGINT)', params: [total, limit], decides: true },
      ]
    },
  })

  /** Everybody sees public ones. A hook numbers them, and values are calculated of them. */
  const gauges = collection({
    name: 'gauges',
    migrations,
    fields: {
      name: text({ max: 20 }),
      number: text({ max: 20, writable: never }),
      slug: computed(text({ max: 20, unique: true }), ({ name }) => name.toLowerCase(), { stored: true }),
      rate: decimal({ scale: 2, default: 1.25 }),
      gross: computed(decimal({ scale: 2 }), ({ rate }) => rate * 1.19),
      parts: computed(list(text()), ({ name }) => [...name].slice(0, 2)),
      nothing: computed(integer(), () => undefined as never),
      margin: computed(integer({ readable: can('gauges.margins') }), () => 42),
      own_rate: computed(integer(), () => 7, { readable: row.owner.is(me) }),
      is_public: boolean({ default: false }),
      owner: belongsTo(users, { default: me, writable: never }),
      data: json({ optional: true }),
      gauge: belongsTo((): Feature => gauges as Feature, { optional: true }),
      related: list(belongsTo((): Feature => gauges as Feature)),
      children: hasMany((): Feature => gauges as Feature, 'gauge'),
    },
    rules: {
      read: any(row.is_public.is(true), row.owner.is(me), can('gauges.view')),
      create: signedIn,
      update: row.owner.is(me),
      delete: row.owner.is(me),
    },
    filter: ['is_public', 'owner'],
    roles: { weigher: ['gauges.view', 'gauges.margins'] },
    beforeWrite({ before, after }) {
      if (before || after.name === 'Unnumbered') return
      return { number: `No. ${after.name}` }
    },
  })
  return [makers, parts, reviews, nodes, leaves, notices, tallies, gauges] as Feature[]
}

/** One service for all tests of a suite. */
export function shareWorkshop(engine: Dialect) {
  const interruption: Interruption = {}
  const start = (owner: Owner, options: ApiOptions) =>
    startApiWithRoles(owner, { ...options, extensions: declareWorkshop(temporaryFolder(owner), interruption) })
  const shared = shareService(start, { engine })
  return async () => {
    const api = await shared()
    return {
      ...api,
      interruption,
      /** Creates a row and returns its path and id. */
      async make(path: string, json: object, token: string): Promise<{ id: number; path: string; etag: string }> {
        const { status, body, headers } = await api.post(path, json, token)
        if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
        return { id: body.data.id, path: headers.get('location') as string, etag: headers.get('etag') as string }
      },
      patch: (path: string, json: object, token?: string, headers: Record<string, string> = {}) =>
        api.request('PATCH', path, { json, token, headers }),
    }
  }
}
