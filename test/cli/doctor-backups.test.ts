/** `latchkey doctor` on scheduled backups, notifications and the OpenTelemetry collector. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { checkLast } from '../../src/app/doctor/backup-checks.ts'
import { checkSpace } from '../../src/app/doctor/space-check.ts'
import { startApi } from '../support/api.ts'
import { createDatabaseUrl, engines, onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { findingOf, findingsOf, good } from '../support/doctor.ts'
import { eventually } from '../support/eventually.ts'
import { startPgBouncer } from '../support/pgbouncer.ts'
import { freePort } from '../support/servers.ts'

test('a folder that backups cannot be written to is a problem; one that can be made is fine', async (t) => {
  const folder = temporaryFolder(t)
  const env = { ...good, DATABASE_URL: await createDatabaseUrl(t, 'sqlite') }
  const check = async (BACKUP_FOLDER: string) => (await findingOf('backup_folder', { ...env, BACKUP_FOLDER })).join(' ')
  writeFileSync(join(folder, 'file'), '')
  mkdirSync(join(folder, 'backups'))
  assert.match(
    await check(join(folder, 'file')),
    /^problem backups cannot be written to .* is not a folder: set BACKUP/,
  )
  assert.match(await check(join(folder, 'file', 'backups')), /^problem .*\/file is not a folder/)
  assert.match(await check(join(folder, 'backups')), /^ok backups can be written to/)
  assert.match(await check(join(folder, 'not', 'yet')), /^ok .* does not exist yet; the first backup makes it$/)
  assert.deepEqual(readdirSync(folder).sort(), ['backups', 'file'], 'it makes nothing')
  const ids = (await findingsOf({ ...env, BACKUP_FOLDER: '', BACKUP_EVERY: '' })).map(({ id }) => id)
  assert.deepEqual(
    ids.filter((id) => id.startsWith('backup_')),
    [],
  )
})

test('little room for backups is a warning, and hardly any a problem', () => {
  const check = (freeBytes: number) => checkSpace('backup_space', { folder: '/b', freeBytes, wantedBytes: 4e9 }).status
  assert.deepEqual([5e9, 3e9, 5e7].map(check), ['ok', 'warning', 'problem'])
})

test('backups that are late or fail are found', () => {
  const day = 86_400
  const now = 100 * day
  const made = (daysAgo: number, error: string | null = null) => ({ started_at: String(now - daysAgo * day), error })
  const check = (...rows: ReturnType<typeof made>[]) => {
    const { status, text } = checkLast(rows, { everySeconds: day, nowSeconds: now })
    return `${status} ${text}`
  }
  assert.match(check(), /^ok no backup was made yet/)
  assert.match(check(made(1.5), made(3)), /^ok the last proved backup is 36 h old$/)
  assert.match(check(made(3)), /^warning the last proved backup is 3 days old, though BACKUP_EVERY is 24 h: look/)
  assert.match(
    check(made(0.5, 'no room\nat all'), made(1.5)),
    /^warning the last backup failed \(no room\), and the last/,
  )
  assert.match(check(made(0.5, 'no room'), made(9)), /^problem the last backup failed \(no room\), .* is 9 days old$/)
  assert.match(check(made(0.5, 'no room')), /^problem the last backup failed \(no room\), and no backup was proved$/)
})

onAnyEngine('doctor and the backups of a service', (engine) => {
  test('are read from its database', async (t) => {
    const BACKUP_FOLDER = temporaryFolder(t)
    const api = await startApi(t, { engine, env: { BACKUP_FOLDER, BACKUP_EVERY: '24h' } })
    const env = { ...good, BACKUP_FOLDER, DATABASE_URL: api.databaseUrl }
    await eventually(async () => {
      const found = await findingOf('backup_age', env)
      assert.match(found.join(' '), /^ok the last proved backup is \d min old$/)
    })
    await api.close()
    assert.equal((await findingOf('backup_space', env))[0], 'ok')
  })
})

async function startCollector(t: TestContext, status: number) {
  const received: string[] = []
  const server = createServer((request, response) => {
    received.push(`${request.url} ${request.headers.authorization}`)
    response.writeHead(status).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

test('a collector that is away or refuses is a problem, told without its headers', async (t) => {
  const env = {
    ...good,
    DATABASE_URL: await createDatabaseUrl(t, 'sqlite'),
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hush',
  }
  const check = async (OTEL_EXPORTER_OTLP_ENDPOINT: string, more = {}) =>
    (await findingOf('telemetry', { ...env, OTEL_EXPORTER_OTLP_ENDPOINT, ...more })).join(' ')
  const collector = await startCollector(t, 200)
  assert.match(await check(collector.url), /^ok the OpenTelemetry collector answers at 127/)
  assert.deepEqual(collector.received, ['/v1/traces hush', '/v1/metrics hush'])
  await check(collector.url, { OTEL_TRACES_EXPORTER: 'none' })
  assert.deepEqual(collector.received.slice(2), ['/v1/metrics hush'])
  const refused = await check((await startCollector(t, 401)).url)
  assert.match(refused, /^problem .* does not accept \/v1\/traces \(status 401\): check OTEL_EXPORTER_OTLP_ENDPOINT/)
  const port = await freePort()
  const away = await check(`http://127.0.0.1:${port}`)
  assert.match(away, /^problem .*ECONNREFUSED/)
  const named = await check(`http://user:hush@127.0.0.1:${port}`)
  assert.match(named, /^problem .*belong into OTEL_EXPORTER_OTLP_HEADERS/)
  assert.doesNotMatch(refused + away + named, /hush/)
  assert.equal(
    (await findingsOf(env)).find(({ id }) => id === 'telemetry'),
    undefined,
  )
})

if (engines.includes('postgres')) {
  test('DATABASE_LISTEN_URL must lead to PostgreSQL itself', async (t) => {
    const DATABASE_URL = await createDatabaseUrl(t, 'postgres')
    const check = async (DATABASE_LISTEN_URL: string) =>
      (await findingOf('database_listen', { ...good, DATABASE_URL, DATABASE_LISTEN_URL })).join(' ')
    assert.match(await check(DATABASE_URL), /^ok PostgreSQL at .* sends notifications$/)
    const away = await check(`postgres://user:hush@127.0.0.1:${await freePort()}/x`)
    assert.match(away, /^problem cannot listen to .*ECONNREFUSED.*: check DATABASE_LISTEN_URL$/)
    assert.doesNotMatch(away, /hush/)
    const { url } = await startPgBouncer(t, DATABASE_URL, 'transaction')
    assert.match(await check(url), /^problem .* shares connections between transactions/)
  })
}
