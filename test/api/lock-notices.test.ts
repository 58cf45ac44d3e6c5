/** The owner is mailed when strangers lock the account. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, type Owner, share, startApi } from '../support/api.ts'
import { onAnyEngine } from '../support/databases.ts'
import { lockOut, logInFrom, manyAddresses, newDevice } from '../support/devices.ts'
import { eventually } from '../support/eventually.ts'
import { startSmtp } from '../support/mailbox.ts'
import { many, register } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'
import { amount } from '../support/tiers.ts'

const hour = 3600
const day = 24 * hour
const subject = 'Subject: Your account was locked for unknown devices'

async function start(t: Owner, engine: 'sqlite' | 'postgres') {
  const mailbox = await startSmtp(t)
  const env = { ...manyAddresses, MAIL_URL: mailbox.url, PUBLIC_URL: 'https://app.example.com' }
  const api = await startApiWithRoles(t, { engine, env })
  const mailsTo = (email: string) => mailbox.messages.filter((message) => message.includes(`To: ${email}`))
  const waitForMails = (email: string, count: number) => eventually(() => assert.equal(mailsTo(email).length, count))
  /** The notice of a later lock has come, so one of an earlier lock would have, too. */
  const settle = async () => {
    const { email } = await register(api)
    await lockOut(api, email)
    await waitForMails(email, 1)
  }
  return { api, mailsTo, waitForMails, settle }
}

onAnyEngine('the notice of a lock', (engine) => {
  const shared = share((owner) => start(owner, engine))

  test('is sent once a day, however often and from however many places it is locked', async () => {
    const { api, mailsTo, waitForMails, settle } = await shared()
    const { email } = await register(api)
    await many(amount({ full: 50, otherwise: 20 }), () => logInFrom(api, email, { given: 'wrong' }))
    for (let i = 0; i < 3; i++) {
      api.clock.advance(901)
      await lockOut(api, email)
    }
    await waitForMails(email, 1)
    await settle()
    assert.equal(mailsTo(email).length, 1)
    api.clock.advance(day - 3 * 901 - hour)
    await lockOut(api, email)
    await settle()
    assert.equal(mailsTo(email).length, 1, 'an hour before the day is over')
    api.clock.advance(2 * hour)
    await lockOut(api, email)
    await waitForMails(email, 2)
  })

  test('says when it happened, what it means and what to do, in plain text', async () => {
    const { api, mailsTo, waitForMails } = await shared()
    const { email } = await register(api)
    const until = new Date((await lockOut(api, email)) * 1000).toISOString()
    await waitForMails(email, 1)
    const [message = ''] = mailsTo(email)
    assert.ok(message.includes(subject))
    assert.match(message, /Content-Type: text\/plain/)
    assert.ok(message.includes(`ends by itself on ${until.slice(0, 10)} at ${until.slice(11, 16)} UTC`))
    assert.match(message, /On \d{4}-\d\d-\d\d at \d\d:\d\d UTC it was locked/)
    assert.match(message, /Devices on which you signed in before still work/)
    assert.match(message, /change it/)
    assert.ok(message.includes('https://app.example.com/console/account'))
  })

  test('goes to nobody for an email that nobody has, for a known device, or to a disabled user', async () => {
    const { api, mailsTo, waitForMails, settle } = await shared()
    const { email } = await register(api)
    await lockOut(api, 'nobody@example.com')
    const { token } = await newDevice(api, email)
    for (let i = 0; i < 6; i++) await logInFrom(api, email, { token, given: 'wrong' })
    const disabled = await register(api, 'disabled@example.com')
    await api.db.write({ sql: 'UPDATE users SET disabled_at = $1 WHERE id = $2', params: ['2026-01-01', disabled.id] })
    await lockOut(api, disabled.email)
    await settle()
    for (const to of ['nobody@example.com', email, disabled.email]) assert.deepEqual(mailsTo(to), [])
    await lockOut(api, email)
    await waitForMails(email, 1)
  })
})

test('a mail server that is away changes no answer, and without mail none is sent', async (t) => {
  const away = await startApi(t, { env: { MAIL_URL: 'smtp://127.0.0.1:1', PUBLIC_URL: 'https://app.example.com' } })
  await lockOut(away, (await register(away)).email)
  await eventually(() => assert.ok(away.log.some((line) => line.includes('a mail could not be sent'))))
  await away.close()
  const none = await startApi(t, { env: { NODE_ENV: 'production' } })
  await lockOut(none, (await register(none)).email)
  assert.deepEqual(problemsIn(none), [])
})

test('in development without mail the message goes to the log', async (t) => {
  const api = await startApi(t)
  await lockOut(api, (await register(api)).email)
  await eventually(() => assert.ok(api.log.some((line) => line.includes('ends by itself'))))
})

function problemsIn({ log }: Api): string[] {
  return log.filter((line) => JSON.parse(line).level >= 50)
}
