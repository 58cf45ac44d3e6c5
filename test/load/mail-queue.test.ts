/** Mail survives crashes and mail servers that are away, and one that cannot be delivered stops no other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createClient } from '../../src/testing/client.ts'
import type { Api } from '../support/api.ts'
import { createDatabaseUrl, onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { type Mailbox, mailedTokens, startMailing, startSmtp, waitForMails } from '../support/mailbox.ts'
import { openOptions, ownMigrations } from '../support/migrations.ts'
import { password, register, signIn } from '../support/people.ts'
import { startProcess } from '../support/process.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'

const newPassword = 'Brand-New-Horse-2'
const lettersPath = '/api/admin/dead-letters'

const start = (t: Parameters<typeof startSmtp>[0], engine: 'sqlite' | 'postgres') =>
  startMailing<ApiWithRoles>(t, engine, {}, startApiWithRoles)

const forget = (api: Pick<Api, 'post'>, email: string) => api.post('/api/auth/password/forgot', { email })

async function queued({ db }: ApiWithRoles): Promise<{ attempts: number; message: string }[]> {
  return db.all('SELECT attempts, message FROM queued_mails')
}

async function waitForAttempt(api: ApiWithRoles, attempts: number): Promise<void> {
  await eventually(async () =>
    assert.deepEqual(
      (await queued(api)).map((each) => each.attempts),
      [attempts],
    ),
  )
}

const messageIds = ({ messages }: Mailbox) => messages.map((text) => /^Message-ID: (<.*>)/im.exec(text)?.[1])

onRacingEngine('queued mail', (engine) => {
  test('is sent again, later and later, while the mail server refuses it for now', async (t) => {
    const { api, mailbox } = await start(t, engine)
    const { email } = await register(api)
    mailbox.refusalOf = () => '451 Try again later'
    await forget(api, email)
    await waitForAttempt(api, 1)
    api.clock.advance(15)
    await waitForAttempt(api, 2)
    mailbox.refusalOf = () => undefined
    api.clock.advance(60)
    await waitForMails(mailbox, 1)
    await eventually(async () => assert.deepEqual(await queued(api), []))
    const [token = ''] = mailedTokens(mailbox, 'Reset')
    assert.equal((await api.post('/api/auth/password/reset', { token, password: newPassword })).status, 200)
    assert.match(
      (await api.get('/metrics')).body,
      /^mails_total\{outcome="failed"\} 2\nmails_total\{outcome="given_up"\} 0/m,
    )
  })

  test('waits at random in production, so that nobody sees whether there is an account; a stop ends the wait', async (t) => {
    const mailbox = await startSmtp(t)
    const env = { NODE_ENV: 'production', MAIL_URL: mailbox.url, PUBLIC_URL: 'https://id.example.com' }
    const api = await startApiWithRoles(t, { engine, env })
    for (const { email } of [await register(api), await register(api)]) await forget(api, email)
    await api.app.close()
    assert.equal(mailbox.messages.length, 2)
    const { db } = await openDatabase(openOptions({ url: api.databaseUrl, migrations: ownMigrations }))
    t.after(() => db.close())
    assert.deepEqual(await db.all('SELECT id FROM queued_mails'), [])
  })

  test('is sent as fast as the mail server takes it when an outage ends', async (t) => {
    const { api, mailbox } = await start(t, engine)
    const { email } = await register(api)
    mailbox.refusalOf = () => '451 Try again later'
    await forget(api, email)
    await waitForAttempt(api, 1)
    const insert = {
      sql: `INSERT INTO queued_mails (id, kind, user_id, message, due_at, valid_until, expires_at)
            SELECT id + 1, kind, user_id, message, due_at, valid_until, expires_at FROM queued_mails ORDER BY id DESC LIMIT 1`,
    }
    for (let i = 0; i < 99; i++) await api.db.write(insert)
    mailbox.refusalOf = () => undefined
    api.clock.advance(15)
    // One by one every two seconds, it would take longer than this waits.
    await waitForMails(mailbox, 100)
    await eventually(async () => assert.deepEqual(await queued(api), []))
  })

  test('that the server refuses for good becomes a dead letter, and holds up no other', async (t) => {
    const { api, mailbox } = await start(t, engine)
    const gone = await register(api)
    const other = await register(api)
    mailbox.refusalOf = (address) => (address === gone.email ? `550 5.1.1 <${address}>: no such user` : undefined)
    await forget(api, gone.email)
    await forget(api, other.email)
    await waitForMails(mailbox, 1)
    const { access } = await api.signInAs('admin')
    const letters = async () => (await api.get(lettersPath, access)).body.data
    await eventually(async () => assert.equal((await letters()).length, 1))
    const [{ id, failed_at, ...letter }] = await letters()
    assert.deepEqual(letter, {
      listener: 'mail',
      type: 'mail.password_reset',
      entity_id: gone.id,
      attempts: 1,
      error: letter.error,
      retrying: false,
    })
    assert.match(letter.error, /550 5\.1\.1 <\(address\)>: no such user/)
    assert.deepEqual(await queued(api), [])
    const metrics: string = (await api.get('/metrics')).body
    assert.match(metrics, /^dead_letters\{listener="mail"\} 1$/m)
    assert.match(metrics, /^queued_mails 0$/m)

    await api.post(`${lettersPath}/${id}/retry`, {}, access)
    await eventually(async () => assert.equal((await letters())[0].attempts, 2))
    mailbox.refusalOf = () => undefined
    await api.post(`${lettersPath}/${id}/retry`, {}, access)
    await waitForMails(mailbox, 2)
    await eventually(async () => assert.deepEqual(await letters(), []))
    const token = mailedTokens(mailbox, 'Reset', gone.email)[0]
    assert.equal((await api.post('/api/auth/password/reset', { token, password: newPassword })).status, 200)
  })

  test('is given up when what it is about has expired, and is not sent later', async (t) => {
    const { api, mailbox } = await start(t, engine)
    const { email } = await register(api)
    mailbox.refusalOf = () => '451 Try again later'
    await forget(api, email)
    await waitForAttempt(api, 1)
    mailbox.refusalOf = () => undefined
    api.clock.advance(3600)
    const { access } = await api.signInAs('admin')
    const letters = async () => (await api.get(lettersPath, access)).body.data
    await eventually(async () => assert.match((await letters())[0]?.error ?? '', /has expired/))
    const [{ id, attempts }] = await letters()
    await api.post(`${lettersPath}/${id}/retry`, {}, access)
    await eventually(async () => assert.equal((await letters())[0].attempts, attempts + 1))
    assert.match((await letters())[0].error, /has expired/)
    assert.equal(mailbox.messages.length, 0)
  })

  test('is stored encrypted, and deleted with its user, also as a dead letter', async (t) => {
    const { api, mailbox } = await start(t, engine)
    const waiting = await signIn(api)
    const refused = await signIn(api)
    mailbox.refusalOf = (address) => (address === waiting.email ? '451 Later' : '550 Never')
    await forget(api, waiting.email)
    await waitForAttempt(api, 1)
    await forget(api, refused.email)
    const stored = async () => JSON.stringify(await api.db.all('SELECT entry, error FROM dead_letters'))
    await eventually(async () => assert.notEqual(await stored(), '[]'))
    for (const text of [await stored(), JSON.stringify(await queued(api))]) {
      assert.doesNotMatch(text, /example\.com|token/i)
    }
    for (const { access } of [waiting, refused]) {
      assert.equal((await api.request('DELETE', '/api/auth/me', { json: { password }, token: access })).status, 204)
    }
    assert.equal(await stored(), '[]')
    assert.deepEqual(await queued(api), [])
  })

  test('that was being sent when the process was killed is sent by the next one, under the same id', async (t) => {
    const mailbox = await startSmtp(t)
    const DATABASE_URL = await createDatabaseUrl(t, engine, { isMigrated: true })
    const env = {
      DATABASE_URL,
      JWT_SECRET: 'x'.repeat(32),
      BCRYPT_COST: '4',
      MAIL_URL: mailbox.url,
      PUBLIC_URL: 'https://app.example.com',
    }
    const first = await startProcess(t, { env })
    const client = createClient(first.url)
    const email = 'ada@example.com'
    assert.equal((await client.post('/api/auth/register', { email, password })).status, 201)
    mailbox.replies = false
    await forget(client, email)
    await waitForMails(mailbox, 1)
    first.child.kill('SIGKILL')
    await first.ended
    mailbox.replies = true
    // The claim of the killed process would last for two minutes.
    const { db } = await openDatabase(openOptions({ url: DATABASE_URL, migrations: ownMigrations }))
    await db.write({ sql: 'UPDATE queued_mails SET due_at = 0' })
    await db.close()
    await startProcess(t, { env })
    await waitForMails(mailbox, 2)
    const [one, two] = messageIds(mailbox)
    assert.match(one ?? '', /^<\d+@localhost>$/)
    assert.equal(two, one)
    assert.equal(mailedTokens(mailbox, 'Reset')[0], mailedTokens(mailbox, 'Reset')[1])
  })
})
