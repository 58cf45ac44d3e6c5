/** The audit trail in the console, in a browser without scripts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { share } from '../support/api.ts'
import { addEntries } from '../support/audit-entries.ts'
import { type ConsolePage, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { startApiWithRoles } from '../support/roles.ts'

const path = '/console/audit'

onAnyEngine('the audit trail in the console, filtered', (engine) => {
  const service = share(async (owner) => {
    const api = await startApiWithRoles(owner, { engine, env: { AUDIT_RETENTION_DAYS: '36500' } })
    const admin = await api.signInAs('admin')
    const other = await api.signInAs('viewer')
    const browser = openConsole(api)
    assert.equal((await browser.signIn(admin.email)).status, 303)
    const entries = Array.from({ length: 70 }, (_, i) => ({
      at: new Date(Date.UTC(2020, 0, 1, 0, i)).toISOString(),
      event: i % 2 === 0 ? 'login' : 'logout',
      outcome: i % 7 === 0 ? 'failure' : 'success',
      user_id: other.id,
      actor_id: i % 7 === 0 ? null : i === 69 ? admin.id : other.id,
      address: i === 0 ? '2001:db8:0:0:0:0:0:1' : '203.0.113.7',
    }))
    await api.db.write(...addEntries(entries))
    await api.put(`/api/admin/users/${other.id}/roles`, { roles: ['editor'] }, admin.access)
    return { api, admin, other, browser }
  })

  test('says how long entries are kept, and shows actor, target and what changed', async () => {
    const { admin, other, browser } = await service()
    const page = await browser.open(path)
    assert.match(page.text, /Entries are kept for 36,500 days\./)
    assert.match(page.text, new RegExp(`Roles changed roles: viewer → editor ${other.email} by ${admin.email} Done`))
    assert.match(page.text, /\d+ entries/)
    assert.match(page.text, /Go to page/)
    const third = await browser.open(`${path}?page=3`)
    assert.match(third.text, /Page 3 of \d/)
  })

  test('by the form, whose blank fields count for nothing, and which shows what was asked for', async () => {
    const { other, browser } = await service()
    const query = new URLSearchParams({
      'filter[event]': 'login',
      'filter[outcome]': '',
      'filter[user]': other.email.toUpperCase(),
      'filter[actor]': '',
      'filter[address]': '',
      'filter[at][gte]': '2020-01-01T00:10',
      'filter[at][lte]': '2020-01-01T00:20',
      sort: 'at',
    })
    const page = await browser.open(`${path}?${query}`)
    assert.equal(page.status, 200)
    assert.deepEqual(
      timesIn(page),
      [10, 12, 14, 16, 18, 20].map((minute) => `2020-01-01T00:${minute}:00.000Z`),
    )
    assert.match(page.text, /6 entries/)
    assert.match(page.html, /<details class="orders" open>/)
    assert.match(page.html, /<option value="login" selected>Sign-in<\/option>/)
    assert.match(page.html, /type="datetime-local"[^>]*value="2020-01-01T00:10"/)
    assert.ok(page.html.includes(`name="filter[user]" value="${other.email.toUpperCase()}"`))
    const day = await browser.open(`${path}?${new URLSearchParams({ 'filter[at][lte]': '2020-01-01' })}`)
    assert.match(day.text, /70 entries/, 'a day as a whole')
    const address = await browser.open(`${path}?${new URLSearchParams({ 'filter[address]': '2001:db8:0:0:0:0:0:1' })}`)
    assert.deepEqual(timesIn(address), ['2020-01-01T00:00:00.000Z'])
  })

  test('page by page, with addresses that can be shared', async () => {
    const { other, browser } = await service()
    const first = await browser.open(
      `${path}?filter%5Bevent%5D=login&filter%5Bat%5D%5Blte%5D=2020-12-31&columns=at,event`,
    )
    assert.equal(timesIn(first)[0], '2020-01-01T01:08:00.000Z')
    const second = await browser.open(linkTo(first, 'Next →'))
    assert.equal(timesIn(second)[0], '2020-01-01T00:28:00.000Z')
    assert.ok(!second.html.includes(`/users/${other.id}`), 'the columns are kept')
    assert.deepEqual(timesIn(await browser.open(linkTo(second, '← Previous'))), timesIn(first))
    const oldest = await browser.open(linkTo(second, 'When'))
    assert.equal(timesIn(oldest)[0], '2020-01-01T00:00:00.000Z')
    assert.match(oldest.html, /aria-sort="ascending"/)
  })

  test('with columns of choice', async () => {
    const { browser } = await service()
    const chosen = await browser.open(`${path}?columns=event&columns=actor&filter%5Bat%5D%5Blte%5D=2020-12-31`)
    assert.deepEqual(headsIn(chosen), ['Event', 'By'])
    assert.match(chosen.text, /Not signed in/)
    assert.match(chosen.html, /name="columns" value="actor" checked>/)
    assert.match(chosen.html, /name="columns" value="at">/)
    assert.match(chosen.html, /href="\/console\/audit\?columns=[^"&]+">Show all, newest first/, 'the columns stay')
    assert.deepEqual(headsIn(await browser.open(`${path}?columns=none`)), headsIn(await browser.open(path)))
  })

  test('says what is wrong, and what was not found', async () => {
    const { browser } = await service()
    const wrong = await browser.open(`${path}?filter%5Buser%5D=nobody%40example.com`)
    assert.deepEqual([wrong.status, wrong.html.includes('value="nobody@example.com"')], [422, true])
    assert.match(wrong.text, /This filter cannot be used filter\[user\]: Nobody has this email/)
    const none = await browser.open(`${path}?filter%5Baddress%5D=192.0.2.1`)
    assert.match(none.text, /Nothing found No entry passes all of these filters/)
    assert.equal((await browser.open(`${path}/export?filter%5Bat%5D%5Bgte%5D=x`)).status, 303)
  })

  test('as CSV of what is filtered, harmless to spreadsheets', async () => {
    const { api, other, browser } = await service()
    await api.db.write({
      sql: `INSERT INTO audit (at, event, outcome, user_id, actor_id, address, user_agent, changes)
            VALUES ('2019-01-01T00:00:00.000Z', 'user_changed', 'success', $1, $1, '192.0.2.9', '=1+1', $2)`,
      params: [other.id, JSON.stringify({ name: { from: '@SUM(A1)', to: 'x, "y"' } })],
    })
    const page = await browser.open(`${path}?filter%5Baddress%5D=192.0.2.9`)
    const file = await browser.open(linkTo(page, 'Download as CSV'))
    assert.equal(file.headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.equal(file.headers.get('content-disposition'), 'attachment; filename="audit-trail.csv"')
    assert.deepEqual(file.html.split('\n'), [
      'at,event,outcome,user_id,actor_id,address,user_agent,changes,user_email,actor_email',
      `2019-01-01T00:00:00.000Z,user_changed,success,${other.id},${other.id},192.0.2.9,'=1+1,"name: @SUM(A1) → x, ""y""",${other.email},${other.email}`,
      '',
    ])
    const all = await browser.open(`${path}/export?sort=at`)
    const counted = await api.db.get<{ n: number }>('SELECT count(*) AS n FROM audit')
    assert.equal(all.html.trimEnd().split('\n').length, (counted?.n ?? 0) + 1)
    const none = await browser.open(`${path}/export?filter%5Bevent%5D=none`)
    assert.match(none.html, /^at,event[^\n]*\n$/)

    const auditor = openConsole(api)
    const user = await api.signInAs('viewer')
    await auditor.signIn(user.email)
    assert.equal((await auditor.open(`${path}/export`)).status, 403)
  })
})

function timesIn({ html }: ConsolePage): string[] {
  return [...html.matchAll(/<td[^>]*class="at"><span><time datetime="([^"]+)"/g)].map(([, time]) => time as string)
}

function headsIn({ html }: ConsolePage): string[] {
  return [...html.matchAll(/<th scope="col"[^>]*>([\s\S]*?)<\/th>/g)].map(([, head]) =>
    (head as string)
      .replaceAll(/<[^>]*>/g, '')
      .replace(/[↑↓]/, '')
      .trim(),
  )
}

function linkTo({ html }: ConsolePage, text: string): string {
  const link = [...html.matchAll(/<a [^>]*href="([^"]+)"[^>]*>([^<]*)/g)].find(([, , shown]) => shown?.trim() === text)
  return (link?.[1] ?? assert.fail(`no link “${text}”`)).replaceAll('&#38;', '&')
}
