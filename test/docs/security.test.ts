/** docs/security.md is complete, and names only tests, keys and endpoints that exist. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { configParts } from '../../src/app/declarations.ts'
import { ownFeatures } from '../../src/app/features.ts'
import { loadConfig } from '../../src/app/load-config.ts'
import { coreKeys } from '../../src/config/core-keys.ts'
import { isKey, leavesOf } from '../../src/config/key.ts'
import { root } from '../../src/config/root.ts'
import { createConfig } from '../support/config.ts'
import { blocksOf, isTest, rowsOf } from '../support/docs.ts'
import { startDescribedApi } from '../support/openapi-document.ts'

const page = readFileSync(join(root, 'docs', 'security.md'), 'utf8')
const verdicts = ['met', 'by configuration', 'not met']

/** The sections of V6 and V7 in version 5.0.0, each with the levels of its requirements in order. */
const sections = {
  '6.1': '122',
  '6.2': '111111112222',
  '6.3': '11223333',
  '6.4': '112233',
  '6.5': '22222333',
  '6.6': '2223',
  '6.7': '33',
  '6.8': '2222',
  '7.1': '222',
  '7.2': '1111',
  '7.3': '22',
  '7.4': '11222',
  '7.5': '223',
  '7.6': '22',
}

interface Requirement {
  id: string
  level: number
  verdict: string
  notes: string
  tests: { file: string; title: string }[]
}

/** The cells of all rows whose first cell matches. */
function findRows(first: RegExp): string[][] {
  return rowsOf(page).filter(([cell = '']) => first.test(cell))
}

const requirements = findRows(/^\d+\.\d+\.\d+$/).map(
  ([id = '', level, , verdict = '', notes = '', tests = '']): Requirement => ({
    id,
    level: Number(level),
    verdict,
    notes,
    tests: [...tests.matchAll(/`([^`]+)`: “([^”]+)”/g)].map(([, file = '', title = '']) => ({ file, title })),
  }),
)

const keys = new Map(
  [coreKeys, ...configParts(ownFeatures).map(({ keys = {} }) => keys)]
    .flatMap((tree) => leavesOf(tree))
    .map((key) => [key.path, key]),
)

/** In backticks, as `auth.lockout.attempts`. */
function keysIn(text: string): string[] {
  return [...text.matchAll(/`((?:audit|auth|jwt|mail|server)\.[a-z_.]+)`/g)].map(([, path = '']) => path)
}

test('the tables have every requirement of both chapters, with its level', () => {
  const expected = Object.entries(sections).flatMap(([section, levels]) =>
    [...levels].map((level, i) => ({ id: `${section}.${i + 1}`, level: Number(level) })),
  )
  assert.deepEqual(
    requirements.map(({ id, level }) => ({ id, level })),
    expected,
  )
})

test('every row has a known verdict, with the test, key or reason that it needs', () => {
  for (const { id, verdict, notes, tests } of requirements) {
    assert.ok(verdicts.includes(verdict), `${id}: ${verdict}`)
    if (verdict === 'not met') assert.match(notes, /^[A-Z0-9].{20,}\.$/, `${id}: why?`)
    else assert.ok(tests.length > 0, `${id}: no test`)
    if (verdict === 'by configuration') assert.ok(keysIn(notes).length > 0, `${id}: no key`)
  }
})

test('every test that the tables name exists', () => {
  const missing = requirements.flatMap(({ id, tests }) =>
    tests.filter((each) => !isTest(each)).map(({ file, title }) => `${id}: ${file}: ${title}`),
  )
  assert.deepEqual(missing, [])
})

test('every configuration key on the page exists', () => {
  const named = keysIn(page)
  assert.ok(named.length > 20)
  assert.deepEqual(
    named.filter((path) => !keys.has(path)),
    [],
  )
})

test('the defaults on the page are those of the configuration', () => {
  const rows = findRows(/^`[a-z]+\.[a-z_.]+`$/)
  assert.ok(rows.length > 10)
  for (const [name = '', shown] of rows) {
    const key = keys.get(keysIn(name)[0] ?? '')
    assert.ok(key && isKey(key), name)
    assert.equal(shown, toText(key.fallback), name)
  }
})

function toText(value: unknown): string {
  const isRate = typeof value === 'object' && value !== null && 'requests' in value && 'seconds' in value
  return isRate ? `${value.requests}/${value.seconds}` : String(value)
}

test('the strict configuration loads, and has every key that the tables need', (t) => {
  const [auth = ''] = blocksOf(page, 'mlc')
  const environment = { MAIL_URL: 'smtp://localhost', MAIL_FROM: 'us@example.com', PUBLIC_URL: 'https://example.com' }
  const { auth: strict } = loadConfig({ directory: createConfig(t, { auth }), environment, forService: true })
  assert.equal(strict.password.minLength, 15)
  const needed = requirements.flatMap(({ verdict, notes }) => (verdict === 'by configuration' ? keysIn(notes) : []))
  const set = auth.split('\n').map((line) => line.trim().split(' ', 1)[0])
  for (const path of needed) assert.ok(set.includes(path.split('.').at(-1)), path)
})

test('the summary counts the rows', () => {
  for (const [level = '', ...counts] of findRows(/^[123]$/)) {
    const ofLevel = requirements.filter((each) => each.level === Number(level))
    const expected = verdicts.map((verdict) => ofLevel.filter((each) => each.verdict === verdict).length)
    assert.deepEqual(counts.map(Number), [ofLevel.length, ...expected], `level ${level}`)
  }
})

async function startWithPublicOperations(t: Parameters<typeof startDescribedApi>[0]) {
  const api = await startDescribedApi(t)
  const isPublic = ({ operation }: (typeof api.operations)[number]) => operation.security.length === 0
  return { ...api, open: api.operations.filter((each) => isPublic(each) && each.path.startsWith('/api/auth/')) }
}

test('the ways in are the public endpoints of the running service', async (t) => {
  const { open } = await startWithPublicOperations(t)
  const listed = findRows(/^`[A-Z]+ \/api\/auth\//).map(([name = '']) => name.replaceAll('`', ''))
  assert.deepEqual(listed.sort(), open.map(({ name }) => name).sort())
})

test('public endpoints ask for these fields and no others: no hints, no secret questions', async (t) => {
  const { open, document } = await startWithPublicOperations(t)
  const fields = open.flatMap(({ operation }) =>
    Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) => {
      const name = String(schema.$ref).split('/').at(-1) ?? ''
      return Object.keys(
        (document.components.schemas[name]?.properties as object | undefined) ?? schema.properties ?? {},
      )
    }),
  )
  const known = [
    'challenge_token',
    'code',
    'email',
    'name',
    'password',
    'refresh_token',
    'remove_passkeys',
    'response',
    'token',
  ]
  assert.deepEqual(
    fields.filter((field) => !known.includes(field)),
    [],
  )
  assert.ok(fields.includes('password'))
})
