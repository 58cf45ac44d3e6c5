/** Who gets how much mail, and to which address. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database, Statement } from '../../src/platform/database/database.ts'
import { share } from '../support/api.ts'
import { onAnyEngine } from '../support/databases.ts'
import { startMailing, waitForMails } from '../support/mailbox.ts'
import { many, password, signIn } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

const noLimits = { RATE_LIMIT_VERIFY: '1000/60', RATE_LIMIT_REGISTER: '1000/60', RATE_LIMIT_RESET: '1000/60' }

onAnyEngine('mail', (engine) => {
  const shared = share((owner) => startMailing(owner, engine, noLimits, startApiWithRoles))

  test('any number of accounts get no more than ten mails an hour to an address that is none of theirs', async () => {
    const { api, mailbox } = await shared()
    const before = mailbox.messages.length
    const victim = 'victim@elsewhere.example'
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) {
      const { access } = await signIn(api)
      const asked = await many(3, () => api.post('/api/auth/email', { email: victim, password }, access))
      statuses.push(...asked.map(({ status }) => status))
    }
    assert.deepEqual(statuses.sort(), [...Array(10).fill(202), ...Array(5).fill(429)])
    const { access } = await signIn(api)
    assert.equal((await api.post('/api/auth/email', { email: 'other@example.com', password }, access)).status, 202)
    await waitForMails(mailbox, before + 11)
    assert.equal(mailbox.messages.filter((text) => text.includes(`To: ${victim}`)).length, 10)
  })

  test('an account that is made and deleted over and over gets no more of them either', async () => {
    const { api, mailbox } = await shared()
    const before = mailbox.messages.length
    const victim = 'another@elsewhere.example'
    for (let i = 0; i < 4; i++) {
      const { access } = await signIn(api, victim)
      for (let j = 0; j < 3; j++) await api.post('/api/auth/email/verification', {}, access)
      // The mails are made after the response, and go with the account.
      await waitForMails(mailbox, before + Math.min(10, 3 * i + 3))
      assert.equal((await api.request('DELETE', '/api/auth/me', { json: { password }, token: access })).status, 204)
    }
    const { email } = await signIn(api)
    await api.post('/api/auth/password/forgot', { email })
    await waitForMails(mailbox, before + 11)
    assert.equal(mailbox.messages.filter((text) => text.includes(`To: ${victim}`)).length, 10)
  })

  for (const [name, ask] of [
    ['reset', { path: '/api/auth/password/forgot', isPublic: true }],
    ['verification', { path: '/api/auth/email/verification', isPublic: false }],
  ] as const) {
    test(`a ${name} that is asked for while the address changes is not mailed to the old one`, async () => {
      const { api, mailbox } = await shared()
      const before = mailbox.messages.length
      const user = await signIn(api)
      const moved = `moved-${user.id}@example.com`
      const made = beforeToken(api.db, () =>
        api.db.write({ sql: 'UPDATE users SET email = $1 WHERE id = $2', params: [moved, user.id] }),
      )
      const asking = (email: string) => api.post(ask.path, { email }, ask.isPublic ? undefined : user.access)
      assert.equal((await asking(user.email)).status, 202)
      assert.equal(await made, false, 'a token was made for the old address')
      assert.equal((await asking(moved)).status, 202)
      await waitForMails(mailbox, before + 1)
      assert.ok(mailbox.messages.at(-1)?.includes(`To: ${moved}`))
    })
  }
})

/** Does something just before the next token is written. Returns whether the token was made. */
function beforeToken(db: Database, act: () => Promise<unknown>): Promise<boolean> {
  const { write } = db
  return new Promise((resolve, reject) => {
    const intercepted = async (...statements: Statement[]) => {
      if (!statements.some(({ sql }) => sql.includes('INTO mailed_tokens'))) return write(...statements)
      Object.assign(db, { write })
      await act()
      const rows = await write(...statements)
      resolve(rows.some((each) => each.length > 0))
      return rows
    }
    Object.assign(db, { write: (...given: Statement[]) => intercepted(...given).catch((error) => reject(error)) })
  })
}
