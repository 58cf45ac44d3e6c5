import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Config, loadConfig } from '../app/load-config.ts'
import { FatalError } from '../core/fatal-error.ts'
import { isPlaygroundOpen } from './config.ts'
import { root } from './root.ts'

const secret = 'x'.repeat(32)

interface Given {
  files?: Record<string, string>
  environment?: Record<string, string>
  forService?: boolean
}

function load(t: TestContext, { files = {}, environment = {}, forService = true }: Given = {}): Config {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-config-'))
  t.after(() => rmSync(directory, { recursive: true }))
  for (const [name, source] of Object.entries(files)) writeFileSync(join(directory, name), source)
  return loadConfig({ directory, environment, forService })
}

/** The problems, without the path of the temporary folder. */
function problems(t: TestContext, given: Given): string[] {
  try {
    load(t, given)
  } catch (error) {
    assert.ok(error instanceof FatalError)
    assert.equal(error.exitCode, 78)
    return error.lines.map((line) => line.replaceAll(/[^ ()]*latchkey-config-\w+\//g, ''))
  }
  return []
}

test('nothing configured gives the defaults, which the shipped files repeat', (t) => {
  const bare = load(t)
  const shipped = loadConfig({ directory: join(root, 'config'), environment: {}, forService: true })
  assert.deepEqual({ ...bare, directory: shipped.directory }, shipped)
  assert.deepEqual([bare.server.host, bare.server.port], ['0.0.0.0', 3000])
  assert.equal(bare.database.url, 'file:data/latchkey.db')
  assert.deepEqual([bare.jwt.accessTtlSeconds, bare.jwt.refreshTtlSeconds], [1800, 604_800])
  assert.deepEqual([bare.jwt.algorithm, bare.jwt.issuer], ['HS256', 'service'])
  assert.deepEqual([bare.graphql.wsPort, bare.graphql.wsHost, bare.graphql.pubsub], [6001, '0.0.0.0', 'in_memory'])
  assert.deepEqual(bare.auth.rateLimit.refresh, { requests: 300, seconds: 60 })
})

test('sockets are bound to the address that everything else is, unless they have one of their own', (t) => {
  const wsHost = (environment: Record<string, string>) => load(t, { environment }).graphql.wsHost
  assert.equal(wsHost({ HOST: '127.0.0.1' }), '127.0.0.1')
  assert.equal(wsHost({ HOST: '127.0.0.1', GQL_WS_HOST: '::1' }), '::1')
  const files = { 'x.mlc': 'server { host = "::1" }' }
  assert.equal(load(t, { files }).graphql.wsHost, '::1')
})

test('files set values, and the environment wins', (t) => {
  const files = { 'server.mlc': 'server { port = 4000 host = "::1" }' }
  assert.equal(load(t, { files }).server.port, 4000)
  const { server } = load(t, { files, environment: { PORT: '5000' } })
  assert.deepEqual([server.port, server.host], [5000, '::1'])
})

test('an empty variable counts as unset', (t) => {
  assert.equal(load(t, { environment: { PORT: '', REDIS_URL: '', JWT_SECRET: '' } }).server.port, 3000)
})

test('a secret of digits stays text', (t) => {
  const digits = '0123456789'.repeat(4)
  assert.equal(load(t, { environment: { JWT_SECRET: digits } }).jwt.secret, digits)
  const files = { 'auth.mlc': 'jwt { secret = env(MY_SECRET) }' }
  assert.equal(load(t, { files, environment: { MY_SECRET: digits } }).jwt.secret, digits)
})

test('an empty secret is no secret', (t) => {
  for (const given of ['""', '${METRICS_TOKEN:-}', 'env(METRICS_TOKEN)', '${METRICS_TOKEN:-null}', 'null']) {
    const files = { 'x.mlc': `server { metrics_token = ${given} }` }
    assert.equal(load(t, { files }).server.metricsToken, undefined, given)
  }
})

test('bare digits keep every one of them where text is asked for', (t) => {
  const files = { 'x.mlc': 'server { metrics_token = 00712345678901234567890 }' }
  assert.equal(load(t, { files }).server.metricsToken, '00712345678901234567890')
})

test('addresses that a driver would trip over are refused', (t) => {
  const wrong = {
    DATABASE_URL: ['file:', 'file://data/x.db', 'mysql://x/y', 'postgres://u:%zz@h/x'],
    REDIS_URL: ['redis://u:pa%zz@h', 'redis://h/notanumber', 'http://h'],
    TRUSTED_PROXIES: ['10.0.0.0/0', '10.0.0.0/33', 'proxy.example'],
  }
  for (const [variable, values] of Object.entries(wrong)) {
    for (const value of values) {
      const [problem = ''] = problems(t, { environment: { [variable]: value }, forService: false })
      assert.ok(problem.startsWith(`${variable} must be`), `${variable}=${value}: ${problem}`)
    }
  }
})

test('lists come from a file or, with commas, from a variable', (t) => {
  const files = { 'x.mlc': 'cors { origins = [ "https://a.example", "https://b.example" ] }' }
  assert.deepEqual(load(t, { files }).cors.origins, ['https://a.example', 'https://b.example'])
  const environment = { CORS_ORIGINS: 'https://c.example, https://d.example' }
  assert.deepEqual(load(t, { files, environment }).cors.origins, ['https://c.example', 'https://d.example'])
})

test('a host is an address or a name, and nothing more', (t) => {
  const read = (value: string) => load(t, { environment: { HOST: value } }).server.host
  for (const fine of ['127.0.0.1', '::', 'fe80::1%eth0', 'localhost', 'db_1.internal', 'bücher.example', '0']) {
    assert.equal(read(fine), fine)
  }
  for (const wrong of ['not a host', '999.1.1.1', '127.0.0.1:80', '[::1]', 'http://localhost', 'a/b', 'a@b', '%']) {
    const expected = 'must be an address or the name of a host, without port and brackets'
    for (const name of ['HOST', 'GQL_WS_HOST']) {
      assert.deepEqual(problems(t, { environment: { [name]: wrong } }), [`${name} ${expected}`], wrong)
    }
  }
})

test('an origin is scheme, host and port, and nothing more', (t) => {
  const read = (value: string) => load(t, { environment: { CORS_ORIGINS: value } }).cors.origins
  assert.deepEqual(read('*'), ['*'])
  assert.deepEqual(read('https://shop.example, http://localhost:8080'), [
    'https://shop.example',
    'http://localhost:8080',
  ])
  assert.deepEqual(read('http://[::1]:8080,capacitor://localhost'), ['http://[::1]:8080', 'capacitor://localhost'])
  // In the form of the Origin header.
  assert.deepEqual(read('https://Shop.Example:443,https://bücher.example'), [
    'https://shop.example',
    'https://xn--bcher-kva.example',
  ])
  for (const wrong of [
    'https://shop.example/',
    'https://shop.example/path',
    'https://shop.example?x',
    'https://shop.example#x',
    'https://user@shop.example',
    'https://*.shop.example',
    'https://shop.example:99999',
    'shop.example',
    'shop.example:443',
    'localhost:8080',
    '//shop.example',
    'https:shop.example',
    'https://',
    'null',
    'file:///index.html',
    '*,https://shop.example',
  ]) {
    const [problem = ''] = problems(t, { environment: { CORS_ORIGINS: wrong } })
    assert.match(problem, /^CORS_ORIGINS must be "\*", or a list, each item an origin such as/, wrong)
  }
})

test('the playground is open in development, closed elsewhere, and an explicit value wins', (t) => {
  const open = (environment: Record<string, string>) =>
    isPlaygroundOpen(load(t, { environment: { JWT_SECRET: secret, ...environment } }))
  assert.equal(open({}), true)
  assert.equal(open({ NODE_ENV: 'production' }), false)
  assert.equal(open({ NODE_ENV: 'production', GQL_PLAYGROUND: 'true' }), true)
  assert.equal(open({ GQL_PLAYGROUND: 'false' }), false)
  assert.equal(open({ GQL_PLAYGROUND: '0' }), false)
})

test('the configuration is frozen to its last leaf', (t) => {
  const config = load(t)
  assert.throws(() => Object.assign(config.auth.rateLimit.login, { requests: 1 }), TypeError)
  assert.throws(() => (config.cors.origins as string[]).push('x'), TypeError)
})

test('all problems are reported together, each with its place', (t) => {
  const files = {
    'a.mlc': 'server {\n  prt = 1\n  port = many\n}\nserver_host = x',
    'b.mlc': 'log { level = loud }\nserver { port = 1 }\nauth = 1\njwt { secret { } }',
  }
  const environment = {
    GQL_WS_PORT: '70000',
    RATE_LIMIT_LOGIN: 'often',
    GQL_PUBSUB: 'redis',
    TRUSTED_PROXIES: '10.0.0.0/99',
  }
  assert.deepEqual(problems(t, { files, environment }), [
    'a.mlc:2:3: unknown key "server.prt"; did you mean "server.port"?',
    'a.mlc:5:1: unknown key "server_host"; did you mean "server.host"?',
    'b.mlc:2:10: repeated key "server.port" (first at a.mlc:3:3)',
    'b.mlc:3:1: "auth" is a section, not a value',
    'b.mlc:4:7: "jwt.secret" is a value, not a section',
    'a.mlc:3:3: server.port must be an integer from 0 to 65535',
    'TRUSTED_PROXIES must be a list, each item an address, a range such as 10.0.0.0/8, or loopback, linklocal or uniquelocal',
    'b.mlc:1:7: log.level must be one of trace, debug, info, warn, error, silent',
    'RATE_LIMIT_LOGIN must be requests/seconds, such as 100/60, over 24 days at most',
    'GQL_WS_PORT must be an integer from 0 to 65535',
    'GQL_PUBSUB: redis needs REDIS_URL',
  ])
})

test('what needs PostgreSQL is refused on SQLite, and a wrong PostgreSQL URL says what is wrong', (t) => {
  const read = (environment: Record<string, string>) => problems(t, { environment, forService: false })
  assert.deepEqual(read({ GQL_PUBSUB: 'postgres', DATABASE_LISTEN_URL: 'postgres://h/x' }), [
    'GQL_PUBSUB: postgres needs a PostgreSQL server in DATABASE_URL',
    'DATABASE_LISTEN_URL needs a PostgreSQL server in DATABASE_URL',
  ])
  assert.deepEqual(read({ DATABASE_URL: 'postgres://u:p@one,two/x?target_session_attrs=master' }), [
    'DATABASE_URL must be a PostgreSQL URL as libpq reads it: target_session_attrs must be one of any, read-write, read-only, primary, standby, prefer-standby',
  ])
  assert.deepEqual(read({ DATABASE_URL: 'postgres://one/x', DATABASE_LISTEN_URL: 'file:x.db' }), [
    'DATABASE_LISTEN_URL must be a URL that starts with postgres: or postgresql:',
  ])
  const environment = { DATABASE_URL: 'postgres://u:p@one:1,two:2/x?target_session_attrs=read-write' }
  assert.equal(load(t, { environment, forService: false }).database.url, environment.DATABASE_URL)
})

test('an unknown section is suggested the nearest, and so is a key that is close to one', (t) => {
  const files = {
    'a.mlc': 'servr { port = 1 }\nauth {\n  lokout { attempts = 3 }\n  rolse { }\n}',
    'b.mlc': 'grahpql { ws { port = 1 } }\nzzzzzzzzzz { x = 1 }\nlog { levle = info }',
  }
  assert.deepEqual(problems(t, { files }), [
    'a.mlc:1:1: unknown section "servr"; did you mean "server"?',
    'a.mlc:3:3: unknown section "auth.lokout"; did you mean "auth.lockout"?',
    'a.mlc:4:3: unknown section "auth.rolse"; did you mean "auth.roles"?',
    'b.mlc:1:1: unknown section "grahpql"; did you mean "graphql"?',
    'b.mlc:2:1: unknown section "zzzzzzzzzz"',
    'b.mlc:3:7: unknown key "log.levle"; did you mean "log.level"?',
  ])
})

test('a short secret is refused everywhere', (t) => {
  for (const environment of [{}, { NODE_ENV: 'production' }] as Record<string, string>[]) {
    const found = problems(t, { environment: { ...environment, JWT_SECRET: 'x'.repeat(31) } })
    assert.deepEqual(found, ['JWT_SECRET must be at least 32 bytes long'])
  }
  assert.deepEqual(problems(t, { environment: { JWT_SECRET: secret, JWT_PREVIOUS_SECRETS: 'short' } }), [
    'JWT_PREVIOUS_SECRETS: each must be at least 32 bytes long',
  ])
})

test('without a secret the service starts in development on SQLite alone; commands that sign nothing always do', (t) => {
  assert.deepEqual(problems(t, {}), [])
  assert.match(
    problems(t, { environment: { NODE_ENV: 'production' } })[0] ?? '',
    /^JWT_SECRET is required when NODE_ENV is production/,
  )
  const environment = { DATABASE_URL: 'postgres://localhost/x' }
  assert.match(problems(t, { environment })[0] ?? '', /^JWT_SECRET is required on PostgreSQL/)
  assert.deepEqual(problems(t, { environment, forService: false }), [])
})

test('mail needs a public address, and key algorithms need a key', (t) => {
  assert.match(problems(t, { environment: { MAIL_URL: 'smtp://localhost' } })[0] ?? '', /needs PUBLIC_URL/)
  assert.match(problems(t, { environment: { JWT_ALGORITHM: 'RS256' } })[0] ?? '', /RS256 needs JWT_PRIVATE_KEY_FILE/)
  assert.deepEqual(problems(t, { environment: { JWT_PRIVATE_KEY_FILE: 'key.pem' } }), [
    'JWT_PRIVATE_KEY_FILE: HS256 does not sign with a key: set JWT_ALGORITHM to RS256, ES256 or EdDSA',
  ])
})

test('paths can be appended to the public address', (t) => {
  const read = (PUBLIC_URL: string) => load(t, { environment: { PUBLIC_URL } }).server.publicUrl
  assert.equal(read('https://app.example.com/base//'), 'https://app.example.com/base')
  for (const PUBLIC_URL of ['https://app.example.com/?a=b', 'https://app.example.com#top']) {
    assert.deepEqual(problems(t, { environment: { PUBLIC_URL } }), [
      'PUBLIC_URL must be a URL that starts with http: or https:, without a query or fragment',
    ])
  }
})

test('OpenTelemetry is configured by its own variables, which are checked where it is used', (t) => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://localhost:4318/'
  const { telemetry } = load(t, {
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%2Cb, x-tenant = 1',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    },
  })
  assert.equal(telemetry.endpoint, 'http://localhost:4318')
  assert.deepEqual(telemetry.headers, { authorization: 'Bearer a,b', 'x-tenant': '1' })
  assert.equal(telemetry.samplerRatio, 0.25)
  const found = (environment: Record<string, string>) => problems(t, { environment })
  assert.deepEqual(found({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }), [], 'meant for other programs')
  assert.match(found({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })[0] ?? '', /only http\/json/)
  assert.match(found({ OTEL_TRACES_SAMPLER: 'sometimes' })[0] ?? '', /^OTEL_TRACES_SAMPLER must be one of always_on/)
  assert.match(found({ OTEL_TRACES_SAMPLER_ARG: '2' })[0] ?? '', /must be a number from 0 to 1/)
  for (const headers of ['novalue', '=x', 'a=%zz']) {
    assert.match(found({ OTEL_EXPORTER_OTLP_HEADERS: headers })[0] ?? '', /must be pairs/, headers)
  }
})

test('a malformed file is reported with line and column', (t) => {
  assert.deepEqual(problems(t, { files: { 'x.mlc': 'server {\n  port = \n' } }), [
    'x.mlc:2:10: expected a value, found the end of the line',
    'x.mlc:1:1: section is never closed: "}" is missing',
  ])
})

test('a folder that is not there is a problem, not an empty configuration', () => {
  assert.throws(
    () => loadConfig({ directory: '/nowhere/at/all', environment: {}, forService: true }),
    /configuration folder cannot be read/,
  )
})

test('roles replace the default ones, with everything wrong about them told in its place', (t) => {
  const role = (body: string) => ({ 'auth.mlc': `auth {\n  roles {\n${body}\n  }\n}` })
  const config = load(t, { files: role('a { permissions = ["x.*"] inherits = [b] }\nb { permissions = [y] }') })
  assert.deepEqual(config.auth.roles, {
    a: { permissions: ['x.*'], inherits: ['b'] },
    b: { permissions: ['y'], inherits: [] },
  })
  const anything = ['posts:publish', 'with spaces', 'ünï✓', '**', 'posts*', 'posts.', '', '1', 'true']
  const odd = load(t, { files: role(`a { permissions = ${JSON.stringify(anything)} }`) })
  assert.deepEqual(odd.auth.roles.a?.permissions, anything)
  const cases: [string, string][] = [
    ['a { inherits = [b] }', 'auth.mlc:3:1: role "a" inherits "b", which is no role'],
    ['a { inherits = [a] }', 'auth.mlc:3:1: roles inherit each other in a circle: a → a'],
    [
      'b { inherits = [c] }\nc { inherits = [a] }\na { inherits = [b] }',
      'auth.mlc:5:1: roles inherit each other in a circle: a → b → c → a',
    ],
    ['a { permissions = x }', 'auth.mlc:3:5: permissions of role "a" must be a list of names'],
    ['a { permission = [x] }', 'auth.mlc:3:5: role "a" has permissions and inherits, not "permission"'],
    ['a = 1', 'auth.mlc:3:1: role "a" must be a section with permissions and inherits'],
  ]
  for (const [body, expected] of cases) assert.deepEqual(problems(t, { files: role(body) }), [expected])
  assert.deepEqual(problems(t, { files: { 'x.mlc': 'auth { roles = 1 }' } }), [
    'x.mlc:1:8: "auth.roles" is a section, not a value',
  ])
  assert.deepEqual(problems(t, { environment: { DEFAULT_ROLES: 'viewer,king' } }), ['DEFAULT_ROLES: "king" is no role'])
})
