/** Scheduled backups of a running service. */
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { placeOf, restoreInto, tablesIn, tablesOfDatabase } from '../support/archives.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

/** The thread has a low priority: on a busy machine it waits for everything else. */
const ofLowPriorityMs = 300_000

onAnyEngine('a service with BACKUP_EVERY', (engine) => {
  test('makes a backup that can be restored, and shows it in /metrics and in the console', async (t) => {
    const folder = join(temporaryFolder(t), 'backups')
    const api = await startApiWithRoles(t, { engine, env: { BACKUP_FOLDER: folder, BACKUP_EVERY: '24h' } })
    // The gauges of a scrape are read one after the other, perhaps while the backup ends.
    await eventually(async () => {
      const { body } = await api.get('/metrics')
      const told = api.log.filter((line) => line.includes('backup')).join('')
      assert.match(body, /^backup_proved\{backup="last"\} 1$/m, told)
      assert.match(body, /^backup_age_seconds\{backup="written"\} \d+$/m, told)
      assert.match(body, /^backup_age_seconds\{backup="proved"\} \d+$/m, told)
    }, ofLowPriorityMs)
    const [name = '', ...others] = readdirSync(folder)
    assert.deepEqual(others, [])
    assert.match(name, /^latchkey-\d{8}T\d{6}Z\.archive$/)
    const file = join(folder, name)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(folder).mode & 0o777, 0o700)
    const copy = placeOf(`file:${join(temporaryFolder(t), 'copy.db')}`)
    await restoreInto(copy, file)
    assert.deepEqual(await tablesOfDatabase(t, copy), await tablesIn(file))

    api.clock.advance(3 * 3600)
    assert.match((await api.get('/metrics')).body, /^backup_age_seconds\{backup="proved"\} 108\d\d$/m)
    const admin = await signIn(api)
    await api.grant(admin, 'admin')
    const browser = openConsole(api)
    await browser.signIn(admin.email)
    const page = await browser.open('/console/backups')
    assert.match(page.text, /One is made every 1 day/)
    assert.match(page.text, /Good\s+The last that succeeded is 3 hours old/)
    assert.ok(page.text.includes(name))
    assert.match((await browser.open('/console/products')).text, /Backups/)
    api.clock.advance(46 * 3600)
    assert.match((await browser.open('/console/backups')).text, /Late\s+The last that succeeded is 2 days old/)
  })
})
