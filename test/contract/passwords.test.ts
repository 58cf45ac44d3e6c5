import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../src/core/app-error.ts'
import { createHashPool } from '../../src/platform/passwords/hash-pool.ts'
import { createPasswords, type HashClient, type Passwords } from '../../src/platform/passwords/passwords.ts'

const somebody: HashClient = { address: '203.0.113.1' }

function openPasswords(t: TestContext, cost: number): Passwords {
  const pool = createHashPool()
  t.after(() => pool.close())
  return createPasswords({ cost, pool })
}

function tools(passwords: Passwords) {
  return {
    hash: (password: string) => passwords.hash(password, somebody),
    verify: (password: string, hash: string | undefined, client = somebody) =>
      passwords.verify({ password, hash, client }),
  }
}

test('a password matches only its own hash, up to the last byte', async (t) => {
  const passwords = openPasswords(t, 4)
  const { hash, verify } = tools(passwords)
  const long = `A1${'ü'.repeat(35)}`
  assert.equal(Buffer.byteLength(long), 72)
  for (const password of ['Correct-Horse-1', long, 'with\0zero', '']) {
    const made = await hash(password)
    assert.match(made, /^\$2b\$04\$.{53}$/)
    assert.equal(await verify(password, made), true)
    assert.equal(await verify(`${password}x`, made), false)
    assert.equal(await verify(password, undefined), false)
  }
  const made = await hash(long)
  assert.equal(await verify(`${long.slice(0, -1)}x`, made), false)
  assert.equal(await verify('with', await hash('with\0zero')), false)
})

test('an address can queue at least 256 jobs; further ones are refused at once with Retry-After, for this address only', async (t) => {
  const passwords = openPasswords(t, 4)
  const { verify } = tools(passwords)
  // An IPv6 /64 network is one client.
  const flood = Array.from({ length: 1200 }, (_, i) =>
    verify('x', undefined, { address: `2001:db8::${i.toString(16)}` }),
  )
  const others = Array.from({ length: 100 }, (_, i) => verify('x', undefined, { address: `203.0.113.${i}` }))
  const settled = await Promise.allSettled(flood)
  const done = settled.filter(({ status }) => status === 'fulfilled')
  const refused = settled.filter((result) => result.status === 'rejected').map(({ reason }) => reason)
  assert.ok(done.length >= 256, `${done.length} were taken`)
  assert.ok(refused.length > 0)
  for (const reason of refused) {
    assert.ok(reason instanceof AppError && reason.status === 503)
    assert.ok(Number(reason.headers?.['retry-after']) > 0)
  }
  assert.deepEqual(new Set(await Promise.all(others)), new Set([false]))
})

test('an address delays another only by jobs that are already running, and logins go first', async (t) => {
  const passwords = openPasswords(t, 7)
  const order: string[] = []
  const note = (name: string) => () => void order.push(name)
  const flood = Array.from({ length: 60 }, () =>
    passwords.hash('x', { address: '203.0.113.1' }).then(note('flood registers')),
  )
  const logins = Array.from({ length: 60 }, () =>
    passwords.verify({ password: 'x', hash: undefined, client: { address: '203.0.113.1' } }).then(note('flood')),
  )
  const other = passwords.verify({ password: 'x', hash: undefined, client: { address: '203.0.113.2' } })
  await other.then(note('other'))
  // What runs, what may begin before it at the turn of the registrations, and what ends while its own thread has to wait for a
  // busy core. If addresses did not take turns, all 60 logins would come before.
  assert.ok(order.length <= 2 * availableParallelism() + 16, `${order.length - 1} came before: ${order.join(', ')}`)
  await Promise.all([...flood, ...logins])
  const lastLogin = order.lastIndexOf('flood')
  assert.ok(order.slice(0, lastLogin).filter((name) => name === 'flood registers').length < 40, order.join(', '))
})

test('a hash with another cost is outdated', async (t) => {
  const passwords = openPasswords(t, 5)
  assert.equal(passwords.isOutdated(await tools(passwords).hash('x')), false)
  assert.equal(passwords.isOutdated(`$2b$04$${'x'.repeat(53)}`), true)
})
