import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { startApi } from '../support/api.ts'
import { createDatabaseUrl, onAnyEngine } from '../support/databases.ts'
import { deviceTokenIn, isKnown, lockOut } from '../support/devices.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { logIn, password } from '../support/people.ts'

/** With quick hashes, and without the warning of them. */
async function runQuick(args: string[], { env, input = '' }: { env: Record<string, string>; input?: string }) {
  const ended = await runLoaded(args, { env: { ...env, BCRYPT_COST: '4' }, input })
  return { ...ended, stderr: ended.stderr.replace(/^\{.*bcrypt_cost is under 10.*\}\n/, '') }
}

onAnyEngine('user commands', (engine) => {
  test('create, show, change, unlock and list users while the service runs', async (t) => {
    const DATABASE_URL = await createDatabaseUrl(t, engine, { isMigrated: true })
    const env = { DATABASE_URL }
    const run = (args: string[], input = '') => runQuick(args, { env, input })
    const api = await startApi(t, { engine, env: { DATABASE_URL } })

    const made = await run(
      ['user:create', '--email', ' Root@Example.com ', '--name', 'Root', '--role', 'admin', '--role', 'viewer'],
      `${password}\n`,
    )
    assert.equal(made.code, 0, made.stderr)
    assert.equal(made.stdout, 'created user 1, root@example.com, with the roles admin, viewer\n')
    const login = await logIn(api, 'root@example.com')
    assert.equal(login.status, 200)
    const me = () => api.get('/me', login.body.access_token)
    assert.deepEqual((await me()).body, { id: 1, email: 'root@example.com', name: 'Root', roles: ['admin', 'viewer'] })

    assert.equal((await run(['user:roles', 'root@example.com'])).stdout, 'root@example.com: admin, viewer\n')
    assert.equal(
      (await run(['user:roles', 'root@example.com', '--add', 'editor', '--remove', 'viewer'])).stdout,
      'root@example.com: admin, editor\n',
    )
    assert.deepEqual((await me()).body.roles, ['admin', 'editor'], 'at the very next request')
    const last = await run(['user:roles', 'root@example.com', '--set', ''])
    assert.deepEqual([last.code, last.stderr], [1, 'latchkey: Last administrator\n'])
    const unknown = await run(['user:roles', 'root@example.com', '--add', 'king'])
    assert.deepEqual([unknown.code, unknown.stderr], [1, 'latchkey: roles: Unknown role: king\n'])

    for (let i = 0; i < 5; i++) await logIn(api, 'root@example.com', 'wrong')
    assert.equal((await logIn(api, 'root@example.com')).status, 423)
    assert.equal((await run(['user:list'])).stdout, '1\troot@example.com\tRoot\tadmin,editor\t\tlocked\n')
    assert.equal((await run(['user:unlock', 'ROOT@example.com'])).stdout, 'root@example.com is not locked any more\n')
    assert.equal((await logIn(api, 'root@example.com')).status, 200)
  })

  test('invite, disable, enable and delete users, and set their passwords', async (t) => {
    const DATABASE_URL = await createDatabaseUrl(t, engine, { isMigrated: true })
    const env = { DATABASE_URL, PUBLIC_URL: 'https://app.example.com' }
    const run = (args: string[], input = '') => runQuick(args, { env, input })
    const api = await startApi(t, { engine, env: { DATABASE_URL } })
    await run(['user:create', '--email', 'root@example.com', '--role', 'admin'], password)
    const root = await logIn(api, 'root@example.com')

    const invited = await run(['user:create', '--invite', '--email', 'bob@example.com', '--role', 'viewer'])
    assert.equal(invited.code, 0, invited.stderr)
    const [first, link = ''] = invited.stdout.split('\n')
    assert.equal(first, 'invited user 2, bob@example.com, with the roles viewer')
    assert.match(link, /^https:\/\/app\.example\.com\/console\/invitation\?token=/)
    const token = new URL(link).searchParams.get('token')
    assert.equal((await api.post('/api/auth/password/reset', { token, password })).status, 200)
    const taken = await run(['user:create', '--invite', '--email', 'bob@example.com'])
    assert.deepEqual([taken.code, taken.stderr], [1, 'latchkey: email: Email already registered\n'])

    const bob = await logIn(api, 'bob@example.com')
    assert.equal((await run(['user:disable', 'BOB@example.com'])).stdout, 'bob@example.com is disabled\n')
    assert.equal(
      (await run(['user:disable', 'bob@example.com'])).stdout,
      'bob@example.com is disabled, and was before\n',
    )
    assert.equal((await api.get('/me', bob.body.access_token)).status, 401)
    assert.equal((await logIn(api, 'bob@example.com')).status, 401)
    assert.equal((await run(['user:list'])).stdout.split('\n')[1], '2\tbob@example.com\t\tviewer\t\tdisabled')
    assert.equal((await run(['user:enable', 'bob@example.com'])).stdout, 'bob@example.com can sign in again\n')

    const again = await logIn(api, 'bob@example.com')
    const weak = await run(['user:password', 'bob@example.com'], 'weak\n')
    assert.deepEqual([weak.code, weak.stdout], [1, ''])
    assert.match(weak.stderr, /^latchkey: password: Must be at least 8 characters/)
    const changed = await run(['user:password', 'bob@example.com'], 'Better-Horse-2\n')
    assert.equal(changed.stdout, 'bob@example.com has a new password, and is signed out everywhere\n')
    assert.equal((await api.get('/me', again.body.access_token)).status, 401)
    assert.equal((await logIn(api, 'bob@example.com')).status, 401)
    assert.equal((await logIn(api, 'bob@example.com', 'Better-Horse-2')).status, 200)
    await lockOut(api, 'bob@example.com')
    const isStillKnown = await isKnown(api, 'bob@example.com', deviceTokenIn(again), 'Better-Horse-2')
    assert.equal(isStillKnown, false, 'a new password forgets the devices')

    for (const command of ['user:disable', 'user:delete']) {
      const last = await run([command, 'root@example.com', ...(command === 'user:delete' ? ['--yes'] : [])])
      assert.deepEqual([last.code, last.stderr], [1, 'latchkey: Last administrator\n'])
    }
    const unsure = await run(['user:delete', 'bob@example.com'], 'yes\n')
    assert.deepEqual([unsure.code, unsure.stderr], [64, 'latchkey: there is no terminal to ask on; add --yes\n'])
    assert.equal((await run(['user:delete', 'bob@example.com', '--yes'])).stdout, 'deleted user 2, bob@example.com\n')
    const gone = await run(['user:enable', 'bob@example.com'])
    assert.deepEqual([gone.code, gone.stderr], [65, 'latchkey: there is no user bob@example.com\n'])
    const audit = await api.get('/api/admin/audit?per_page=100', root.body.access_token)
    const events = (audit.body.data as { event: string; actor_id: number | null; address: string }[])
      .filter(({ address, actor_id }) => address === 'local' && actor_id === null)
      .map(({ event }) => event)
    assert.deepEqual(events, [
      'user_deleted',
      'user_deleted',
      'user_disabled',
      'password_reset',
      'user_enabled',
      'user_disabled',
      'user_invited',
      'roles_changed',
    ])
  })

  test('escape names so that none can forge a line, and end quietly when the pipe is closed', async (t) => {
    const DATABASE_URL = await createDatabaseUrl(t, engine, { isMigrated: true })
    const api = await startApi(t, { engine, env: { DATABASE_URL } })
    const name = 'x\n1\tceo@example.com\t\u001b[31mBoss'
    await api.post('/api/auth/register', { email: 'a@example.com', password, name })
    const listed = await runLoaded(['user:list'], { env: { DATABASE_URL, BCRYPT_COST: '4' } })
    assert.equal(listed.stdout.split('\n').length, 2, listed.stdout)
    assert.ok(!listed.stdout.includes('\u001b'))
    assert.match(listed.stderr, /bcrypt_cost is under 10/, 'warnings go beside the output')
    const { stderr } = spawnSync('sh', ['-c', `"${root}/bin/latchkey" user:list | true`], {
      env: { PATH: process.env.PATH ?? '', DATABASE_URL },
      encoding: 'utf8',
    })
    assert.equal(stderr, '')
  })

  test('report errors in one line', async (t) => {
    const env = { DATABASE_URL: await createDatabaseUrl(t, engine, { isMigrated: true }) }
    const cases: [args: string[], input: string, code: number, line: RegExp][] = [
      [['user:create', '--email', 'nobody'], `${password}\n`, 1, /email: Must be a valid email address/],
      [
        ['user:create', '--email', 'a@example.com'],
        'weak\n',
        1,
        /password: Must be at least 8 characters; Must contain an upper-case letter/,
      ],
      [
        ['user:create', '--email', 'a@example.com', '--role', 'king'],
        '',
        65,
        /unknown role king; there are admin, editor, viewer/,
      ],
      [['user:create'], '', 64, /required option '--email <email>' not specified/],
      [['user:roles', 'nobody@example.com', '--add', 'viewer'], '', 65, /there is no user nobody@example\.com/],
      [['user:unlock', 'nobody@example.com'], '', 65, /there is no user/],
      [['user:unlock'], '', 64, /missing required argument 'email'/],
    ]
    for (const [args, input, code, line] of cases) {
      const ended = await runQuick(args, { env, input })
      assert.equal(ended.code, code, ended.stderr)
      assert.match(ended.stderr, /^latchkey: .*\n$/)
      assert.match(ended.stderr, line)
    }
    const long = await runQuick(['user:create', '--email', 'b@example.com', '--name', 'x'.repeat(300)], {
      env,
      input: password,
    })
    assert.deepEqual([long.code, long.stderr], [1, 'latchkey: name: Must be at most 255 characters\n'])
    const twice = ['user:create', '--email', 'a@example.com']
    assert.equal((await runQuick(twice, { env, input: password })).code, 0)
    const taken = await runQuick(twice, { env, input: password })
    assert.deepEqual([taken.code, taken.stderr], [1, 'latchkey: email: Email already registered\n'])
  })
})
