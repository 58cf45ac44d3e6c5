import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { mailedToken, startWithMail } from '../support/mailbox.ts'
import { isSignedIn, logIn, password, signIn } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

const account = '/console/account'
const remove = `${account}/delete`

onAnyEngine("the user's own account in the console", (engine) => {
  test('is deleted with the password, unless nobody else is an administrator', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const admin = await api.signInAs('admin')
    const browser = openConsole(api)
    await browser.signIn(admin.email)
    await browser.open(remove)
    const wrong = await browser.submit(remove, { password: 'wrong' })
    assert.equal(wrong.status, 401)
    assert.match(wrong.text, /This is not your password/)
    const last = await browser.submit(remove, { password })
    assert.equal(last.status, 409)
    assert.match(last.text, /You are the last administrator\. Give the role to another user first\./)
    assert.ok(await isSignedIn(api, admin.access))

    await api.signInAs('admin')
    const gone = await browser.submit(remove, { password })
    assert.deepEqual([gone.location, gone.notice], ['/console/sign-in', 'account-deleted'])
    assert.equal((await logIn(api, admin.email)).status, 401)
  })

  test('gets another email by a mailed link, which its button uses up and opening it does not', async (t) => {
    const { api, mailbox } = await startWithMail(t, engine)
    const user = await signIn(api)
    const browser = openConsole(api)
    await browser.signIn(user.email)
    await browser.open(account)
    const fields = { email: 'new@example.com', email_password: 'wrong' }
    assert.match((await browser.submit(`${account}/email`, fields)).text, /This is not your password/)
    const token = await mailedToken(mailbox, 'Confirmation', async () => {
      const asked = await browser.submit(`${account}/email`, { ...fields, email_password: password })
      assert.equal(asked.location, account)
    })
    const confirm = '/console/email/confirm'
    const link = `${confirm}?token=${token}`
    for (let i = 0; i < 2; i++) assert.match((await browser.open(link)).text, /Confirm your new address/)
    assert.equal((await api.get('/me', user.access)).body.email, user.email)
    await browser.submit(confirm)
    assert.equal((await api.get('/me', user.access)).body.email, 'new@example.com')
    assert.match((await browser.open(link)).text, /This link does not work/)
  })
})
