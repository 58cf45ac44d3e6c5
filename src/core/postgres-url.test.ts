import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPostgresUrlProblem, isOnThisMachine, isSameDatabase, parsePostgresUrl } from './postgres-url.ts'

/** The addresses that the driver reads from a URL of one host. */
function addressesOf(text: string): string[] {
  return parsePostgresUrl(text).hosts.map(({ url }) => {
    const { hostname, port, searchParams } = new URL(url)
    return `${searchParams.get('host') ?? hostname} ${searchParams.get('port') ?? port}`
  })
}

test('a URL of one host is left as it is', () => {
  for (const url of [
    'postgres://user:pa%40ss@db.example:5433/shop?sslmode=verify-full',
    'postgresql://db/shop',
    'postgres:///shop',
    'postgres://[::1]:5432/shop',
    'postgres://%2Fvar%2Frun%2Fpostgresql/shop',
  ]) {
    const parsed = parsePostgresUrl(url)
    assert.deepEqual([parsed.hosts.map((host) => host.url), parsed.target], [[url], 'any'])
  }
})

test('several hosts are read as libpq reads them, each with the credentials, the database and the parameters', () => {
  const parsed = parsePostgresUrl(
    'postgres://user:pa%40ss@one:5433,two,[::1]:5434/shop?sslmode=no-verify&target_session_attrs=read-write&connect_timeout=4',
  )
  assert.deepEqual(
    parsed.hosts.map(({ name }) => name),
    ['one:5433', 'two', '[::1]:5434'],
  )
  assert.deepEqual([parsed.target, parsed.connectTimeoutMs], ['read-write', 4000])
  assert.equal(parsed.place, 'one:5433,two,[::1]:5434/shop')
  for (const { url } of parsed.hosts) {
    const { username, password, pathname, searchParams } = new URL(url)
    assert.deepEqual([username, password, pathname], ['user', 'pa%40ss', '/shop'])
    assert.deepEqual([searchParams.get('sslmode'), searchParams.get('target_session_attrs')], ['no-verify', null])
  }
})

test('hosts and ports may be parameters, with one port for all or one each', () => {
  assert.deepEqual(addressesOf('postgres://one:1,two:2/shop'), ['one 1', 'two 2'])
  assert.deepEqual(addressesOf('postgres:///shop?host=one,two&port=1,2'), ['one 1', 'two 2'])
  assert.deepEqual(addressesOf('postgres:///shop?host=one,two&port=7'), ['one 7', 'two 7'])
  assert.deepEqual(addressesOf('postgres://one,two/shop?port=7'), ['one 7', 'two 7'])
  assert.deepEqual(addressesOf('postgres:///shop?host=/run/one,two'), ['/run/one ', 'two '])
})

test('a wrong URL is refused with the reason, without its credentials', () => {
  const wrong: [string, RegExp][] = [
    ['postgres:shop', /has the form postgres:\/\//],
    ['postgres://user:secret@one,two/shop?target_session_attrs=master', /one of any, read-write, .*prefer-standby$/],
    ['postgres://user:secret@one,,two/shop', /one of the hosts has no name/],
    ['postgres://user:secret@one:0,two/shop', /the port of one must be a number from 1 to 65535/],
    ['postgres://user:secret@one:99999/shop', /the port of one must be a number/],
    ['postgres://user:secret@one,two/shop?port=1,2,3', /3 ports for 2 hosts/],
    ['postgres://user:sec%ret@one,two/shop', /"%"/],
    ['postgres://user:secret@[::1,two/shop', /must end with "]"/],
    ['postgres://user:secret@one two/shop', /cannot be read/],
    ['postgres://user:secret@one/shop?connect_timeout=soon', /connect_timeout must be a number of seconds/],
  ]
  for (const [url, problem] of wrong) {
    const found = findPostgresUrlProblem(url) ?? ''
    assert.match(found, problem, url)
    assert.ok(!found.includes('sec') || found.includes('seconds'), found)
  }
  assert.equal(findPostgresUrlProblem('postgres://one,two/shop?target_session_attrs=standby'), undefined)
})

test('two URLs name the same database if they share a host, however they are written', () => {
  const shop = 'postgres://user:secret@one:5432,two:5433/shop?target_session_attrs=read-write'
  for (const same of [
    'postgres://two:5433/shop',
    'postgresql://other@ONE/shop',
    'postgres:///shop?host=one',
    'postgres:///sh%6Fp?host=three,two&port=1,5433',
  ]) {
    assert.equal(isSameDatabase(shop, same), true, same)
  }
  for (const other of [
    'postgres://two/shop',
    'postgres://one/depot',
    'postgres:///shop',
    'postgres:///shop?host=four',
  ]) {
    assert.equal(isSameDatabase(shop, other), false, other)
  }
  assert.equal(isSameDatabase('postgres:///shop?host=one', 'postgres:///shop?host=two'), false)
})

test('a server is on this machine if each of its hosts is', () => {
  for (const near of [
    'postgres:///shop',
    'postgres://[::1]/shop',
    'postgres://localhost,127.0.0.1:1/shop',
    'postgres:///shop?host=/run/postgresql',
  ]) {
    assert.equal(isOnThisMachine(near), true, near)
  }
  for (const far of ['postgres://one/shop', 'postgres://localhost,one/shop', 'postgres:///shop?host=one']) {
    assert.equal(isOnThisMachine(far), false, far)
  }
})
