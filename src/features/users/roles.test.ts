import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileRoles } from './roles.ts'
import { type RoleDefinitions, shippedRoles } from './shipped-roles.ts'

const definitions: RoleDefinitions = {
  ...shippedRoles,
  owner: { permissions: [], inherits: ['manager'] },
  manager: { permissions: ['users.view'], inherits: ['lead'] },
  lead: { permissions: ['reports.daily.*'], inherits: ['editor', 'auditor'] },
  auditor: { permissions: ['audit.view', 'posts'], inherits: [] },
  empty: { permissions: [], inherits: [] },
  odd: { permissions: ['posts:publish', 'with spaces', 'ünï✓.*', '**', 'posts*', '*.view', '', 'x.'], inherits: [] },
}

const table: [roles: string[], permission: string, expected: boolean][] = [
  [['admin'], 'posts.view', true],
  [['admin'], 'anything.at.all', true],
  [['admin'], 'x', true],
  [['admin'], '*', true],
  [['admin'], 'posts.*', true],
  [['editor'], 'posts.view', true],
  [['editor'], 'posts.update', true],
  [['editor'], 'posts.delete', true],
  [['editor'], 'posts.comments.delete', true],
  [['editor'], 'media.upload', true],
  [['editor'], 'posts.*', true],
  [['editor'], 'posts', false],
  [['editor'], 'posts.', false],
  [['editor'], 'postsx.view', false],
  [['editor'], 'post.view', false],
  [['editor'], 'POSTS.view', false],
  [['editor'], 'Posts.view', false],
  [['editor'], ' posts.view', false],
  [['editor'], 'xposts.view', false],
  [['editor'], 'x.posts.view', false],
  [['editor'], 'users.view', false],
  [['editor'], '*', false],
  [['editor'], '', false],
  [['editor'], '.', false],
  [['editor'], '.view', false],
  [['editor'], 'media', false],
  [['editor'], 'media.', false],
  [['viewer'], 'posts.view', true],
  [['viewer'], 'media.view', true],
  [['viewer'], 'posts.update', false],
  [['viewer'], 'posts.views', false],
  [['viewer'], 'posts.vie', false],
  [['viewer'], 'posts.view.all', false],
  [['viewer'], 'posts.*', false],
  [['viewer'], 'POSTS.VIEW', false],
  [['viewer'], 'media.upload', false],
  [['viewer'], '*', false],
  [[], 'posts.view', false],
  [[], '*', false],
  [['empty'], 'posts.view', false],
  [['unknown'], 'posts.view', false],
  [['Admin'], 'posts.view', false],
  [['admin '], 'posts.view', false],
  [['__proto__'], 'posts.view', false],
  [['constructor'], 'posts.view', false],
  [['viewer', 'editor'], 'posts.update', true],
  [['editor', 'viewer'], 'posts.update', true],
  [['unknown', 'admin'], 'x', true],
  [['empty', 'viewer'], 'media.view', true],
  [['auditor'], 'audit.view', true],
  [['auditor'], 'posts', true],
  [['auditor'], 'posts.view', false],
  [['auditor'], 'audit.views', false],
  [['lead'], 'reports.daily.print', true],
  [['lead'], 'reports.daily', false],
  [['lead'], 'reports.daily.', false],
  [['lead'], 'reports.weekly.print', false],
  [['lead'], 'reports.print', false],
  [['lead'], 'posts.update', true],
  [['lead'], 'audit.view', true],
  [['manager'], 'reports.daily.print', true],
  [['manager'], 'posts.view', true],
  [['manager'], 'users.view', true],
  [['manager'], 'users.update', false],
  [['owner'], 'users.view', true],
  [['owner'], 'posts.delete', true],
  [['owner'], 'audit.view', true],
  [['owner'], 'media.view', true],
  [['owner'], '*', false],
  [['odd'], 'posts:publish', true],
  [['odd'], 'posts:publish.now', false],
  [['odd'], 'with spaces', true],
  [['odd'], 'ünï✓.ö', true],
  [['odd'], '**', true],
  [['odd'], '*', false],
  [['odd'], 'posts*', true],
  [['odd'], 'posts.view', false],
  [['odd'], 'postsx', false],
  [['odd'], '*.view', true],
  [['odd'], 'media.view', false],
  [['odd'], '', true],
  [['odd'], 'x.', true],
  [['odd'], 'x.y', false],
]

const roles = compileRoles(definitions)

for (const [names, permission, expected] of table) {
  test(`[${names}] ${expected ? 'may' : 'may not'} ${JSON.stringify(permission)}`, () => {
    assert.equal(roles.allow(names, permission), expected)
  })
}

const segment = fc.constantFrom('posts', 'media', 'a:b', 'b*', '*', '', 'ü v')
const permission = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'))
const held = fc.oneof(
  permission,
  permission.map((each) => `${each}.*`),
  fc.constant('*'),
)
const names = ['r0', 'r1', 'r2', 'r3', 'r4']
const books = fc
  .tuple(...names.map(() => fc.record({ permissions: fc.array(held, { maxLength: 4 }), inherits: fc.subarray(names) })))
  // Only later roles are inherited, so there is no cycle.
  .map(
    (all): RoleDefinitions =>
      Object.fromEntries(
        all.map((role, i) => [`r${i}`, { ...role, inherits: role.inherits.filter((name) => name > `r${i}`) }]),
      ),
  )

test('adding a role never removes a permission, and order does not matter', () => {
  fc.assert(
    fc.property(books, fc.subarray(names), fc.constantFrom(...names), permission, (book, some, more, asked) => {
      const compiled = compileRoles(book)
      if (compiled.allow(some, asked)) assert.ok(compiled.allow([...some, more], asked))
      assert.equal(compiled.allow(some, asked), compiled.allow(some.toReversed(), asked))
    }),
    { numRuns: 1000 },
  )
})

test('matching is the plain reading of the rules, over everything that is inherited', () => {
  const reach = (book: RoleDefinitions, name: string): string[] => [
    ...(book[name]?.permissions ?? []),
    ...(book[name]?.inherits ?? []).flatMap((parent) => reach(book, parent)),
  ]
  const matches = (pattern: string, asked: string) =>
    pattern === '*' ||
    pattern === asked ||
    (pattern.endsWith('.*') && asked.startsWith(pattern.slice(0, -1)) && asked.length >= pattern.length)
  fc.assert(
    fc.property(books, fc.subarray(names), permission, (book, some, asked) => {
      const expected = some.some((name) => reach(book, name).some((pattern) => matches(pattern, asked)))
      assert.equal(compileRoles(book).allow(some, asked), expected)
    }),
    { numRuns: 1000 },
  )
})

test('who covers a role may do everything that it may', () => {
  fc.assert(
    fc.property(books, fc.subarray(names), fc.subarray(names), permission, (book, mine, theirs, asked) => {
      const compiled = compileRoles(book)
      if (compiled.cover(mine, theirs) && compiled.allow(theirs, asked)) assert.ok(compiled.allow(mine, asked))
    }),
    { numRuns: 1000 },
  )
  assert.equal(roles.cover(['editor'], ['viewer']), true)
  assert.equal(roles.cover(['viewer'], ['editor']), false)
  assert.equal(roles.cover(['editor'], ['admin']), false)
  assert.equal(roles.cover(['admin'], ['owner', 'admin']), true)
  assert.equal(roles.cover([], ['unknown']), true)
  assert.equal(roles.cover(['admin'], ['odd']), true)
  assert.equal(roles.cover(['editor'], ['odd']), false)
})

test('the roles that hold everything are known', () => {
  assert.deepEqual(roles.administrators(), ['admin'])
})
