/** Every example of docs/authorization.md runs. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { notePolicy, noteRoutes, reportRoutes } from '../../docs/examples/notes.ts'
import { parseMlc } from '../../src/config/mlc.ts'
import { root } from '../../src/config/root.ts'
import { readRoles } from '../../src/features/users/roles-section.ts'
import { type RoleDefinitions, shippedRoles } from '../../src/features/users/shipped-roles.ts'
import { createConfig } from '../support/config.ts'
import { temporaryFolder } from '../support/databases.ts'
import { blocksOf } from '../support/docs.ts'
import { startApiWithRoles } from '../support/roles.ts'

const page = readFileSync(join(root, 'docs', 'authorization.md'), 'utf8')
const blocks = (language: string) => blocksOf(page, language)

function rolesOf(source: string): RoleDefinitions {
  const auth = parseMlc(source, {}).root.entries.get('auth')
  const roles = auth?.kind === 'section' ? auth.entries.get('roles') : undefined
  assert.ok(roles?.kind === 'section')
  return readRoles(roles).value
}

function exampleConfig(t: Parameters<typeof temporaryFolder>[0]): string {
  const [auth = ''] = blocks('mlc')
  return createConfig(t, { auth })
}

test('the page and config/auth.mlc have the roles that the service ships with', () => {
  const [block = ''] = blocks('mlc')
  const { support, ...documented } = rolesOf(block)
  assert.ok(support, 'the one more')
  assert.deepEqual(documented, shippedRoles)
  assert.deepEqual(rolesOf(readFileSync(join(root, 'config', 'auth.mlc'), 'utf8')), shippedRoles)
})

test('the code on the page is the code of docs/examples/notes.ts', () => {
  const source = readFileSync(join(root, 'docs', 'examples', 'notes.ts'), 'utf8')
  assert.equal(blocks('ts').length, 4)
  for (const block of blocks('ts')) assert.ok(source.includes(block), block)
})

test('the commands on the page run, one after another', (t) => {
  const folder = temporaryFolder(t)
  symlinkSync(join(root, 'bin'), join(folder, 'bin'))
  writeFileSync(join(folder, 'bob.password'), 'Correct-Horse-1\n', { mode: 0o600 })
  const env = {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: `file:${join(folder, 'test.db')}`,
    BCRYPT_COST: '4',
  }
  const shown = blocks('sh').map((script) => {
    // Each command that prompts is in a separate block.
    const options = { cwd: folder, env, input: 'Correct-Horse-1\n', encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', script], options)
    assert.equal(status, 0, stderr)
    return stdout
  })
  assert.deepEqual(shown.join('').split('\n').slice(0, 6), [
    'created user 1, root@example.com, with the roles admin',
    'created user 2, bob@example.com',
    'bob@example.com: editor',
    'bob@example.com: viewer',
    'bob@example.com: no roles',
    'bob@example.com is not locked, and was not',
  ])
})

test('the protected endpoints, with the roles on the page, behave as documented', async (t) => {
  const api = await startApiWithRoles(t, {
    config: exampleConfig(t),
    policies: { notes: notePolicy },
    async extend(app) {
      await app.register(noteRoutes)
      await app.register(reportRoutes)
    },
  })
  const [author, stranger, admin, support] = [
    await api.signInAs(),
    await api.signInAs('editor'),
    await api.signInAs('admin'),
    await api.signInAs('support'),
  ]
  for (const [user, daily, secret] of [
    [undefined, 401, 401],
    [stranger, 403, 403],
    [support, 200, 403],
    [admin, 200, 200],
  ] as const) {
    assert.equal((await api.get('/reports/daily', user?.access)).status, daily)
    assert.equal((await api.get('/reports/secret', user?.access)).status, secret)
  }
  for (const remover of [author, admin]) {
    const { id } = (await api.post('/notes', { text: 'remember' }, author.access)).body.data
    assert.equal((await api.get(`/notes/${id}`)).status, 200)
    assert.equal((await api.delete(`/notes/${id}`)).status, 401)
    assert.equal((await api.delete(`/notes/${id}`, stranger.access)).status, 403)
    assert.equal((await api.delete(`/notes/${id}`, remover.access)).status, 204)
    assert.equal((await api.delete(`/notes/${id}`, remover.access)).status, 404)
  }
})
