/** Several hosts in DATABASE_URL: a primary and its streaming standby. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runOnServer } from '../../src/testing/databases.ts'
import { type Api, startApi } from '../support/api.ts'
import { engines } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { signIn } from '../support/people.ts'
import { startPrivatePostgres, startPrivateStandby } from '../support/private-servers.ts'
import { lamp, productsPath } from '../support/products.ts'

/** Writes until it works again. Every answer before that must be 503. */
async function writeAgain(api: Api, access: string): Promise<void> {
  await eventually(async () => {
    const { status } = await api.post(productsPath, lamp, access)
    assert.ok(status === 201 || status === 503, `status ${status}`)
    assert.equal(status, 201)
  })
  await eventually(async () => assert.deepEqual((await api.get('/health/ready')).body, { status: 'ok' }))
}

if (engines.includes('postgres')) {
  test('of several hosts the one that fits is used, and fail-overs of every kind are survived', async (t) => {
    const one = await startPrivatePostgres(t)
    const two = await startPrivateStandby(t, one)
    const hostOf = (url: string) => new URL(url).host
    const hosts = `${hostOf(two.url)},${hostOf(one.url)}`
    const urlFor = (target: string) =>
      `postgres://latchkey@${hosts}/postgres${target && `?target_session_attrs=${target}`}`

    await t.test('a standby is refused at start, in one line', async () => {
      const refused: [string, RegExp][] = [
        [two.url, /is a standby: name its primary$/],
        [urlFor(''), /is a standby: add target_session_attrs=read-write to the URL$/],
        [urlFor('prefer-standby'), /is a standby: add target_session_attrs=read-write/],
        [`${two.url}?target_session_attrs=primary`, /no host fits target_session_attrs=primary \(\S+ is a standby\)$/],
      ]
      for (const [DATABASE_URL, message] of refused) {
        const { code, stderr } = await runLoaded(['migrate'], { env: { DATABASE_URL } })
        assert.equal(code, 69, stderr)
        assert.match(stderr.trimEnd(), message)
        assert.equal(stderr.trim().split('\n').length, 1, stderr)
      }
    })

    const env = { DATABASE_URL: urlFor('read-write'), DATABASE_POOL_SIZE: '3', GQL_PUBSUB: 'postgres' }
    let publish = async (_value: string) => {}
    const heard: unknown[] = []
    const api = await startApi(t, {
      env,
      extend: async (_app, { topics }) => {
        publish = (value) => topics.publish('news', value)
        await topics.subscribe('news', (value) => heard.push(value))
      },
    })
    const { access } = await signIn(api)
    assert.equal((await api.post(productsPath, lamp, access)).status, 201)

    await t.test('a primary that becomes read-only is left for the one that was promoted', async () => {
      const before = await api.get(productsPath)
      await eventually(async () => {
        const { rows } = await ask(two.url, 'SELECT count(*)::int AS n FROM products')
        assert.equal(rows[0].n, before.body.meta.total)
      })
      await runOnServer(two.url, 'SELECT pg_promote()')
      await runOnServer(one.url, 'ALTER SYSTEM SET default_transaction_read_only = on')
      await runOnServer(one.url, 'SELECT pg_reload_conf()')
      // Sessions take the change over when they next wait for a query.
      await eventually(async () => {
        await writeAgain(api, access)
        const { rows } = await ask(two.url, 'SELECT count(*)::int AS n FROM products')
        assert.ok(rows[0].n > before.body.meta.total)
      })
    })

    await t.test('a host that freezes is left for another', async () => {
      await runOnServer(one.url, 'ALTER SYSTEM RESET default_transaction_read_only')
      await runOnServer(one.url, 'SELECT pg_reload_conf()')
      two.freeze()
      await writeAgain(api, access)
      await eventually(async () => {
        await publish('over the other host')
        assert.equal(heard.at(-1), 'over the other host')
      })
      two.thaw()
    })

    await t.test('a host that dies is left for another, and idle connections to it are replaced', async () => {
      one.kill()
      await writeAgain(api, access)
      await Promise.all(
        Array.from({ length: 10 }, async () => assert.equal((await api.get('/me', access)).status, 200)),
      )
    })
  })
}

async function ask(url: string, sql: string) {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(sql)
  } finally {
    await client.end()
  }
}
