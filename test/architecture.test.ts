/** Holds the arrows of the design: main → commands → app → features → platform → core. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'

const src = join(import.meta.dirname, '..', 'src')
const layers = ['core', 'config', 'platform', 'features', 'app', 'commands', 'main']

interface Source {
  path: string
  text: string
  imports: string[]
}

const sources: Source[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => {
    const text = readFileSync(join(src, path), 'utf8')
    const imports = [...text.matchAll(/(?:from|import\(|new URL\()\s*'(\.[^']+)'/g)].map(([, target]) =>
      relative(src, resolve(src, dirname(path), target as string)),
    )
    return { path, text, imports }
  })

const partsOf = (path: string) => path.replace(/\.ts$/, '').split('/')
const layerOf = (path: string) => layers.indexOf(partsOf(path)[0] as string)

test('there is something to look at', () => {
  assert.ok(sources.length > 20)
  assert.ok(sources.some(({ imports }) => imports.length > 5))
})

test('every file stands in a known layer', () => {
  assert.deepEqual(
    sources.map(({ path }) => path).filter((path) => layerOf(path) === -1),
    [],
  )
})

test('imports run one way, from main down to core', () => {
  const upward = sources.flatMap(({ path, imports }) =>
    imports.filter((target) => layerOf(target) > layerOf(path)).map((target) => `${path} → ${target}`),
  )
  assert.deepEqual(upward, [])
})

test('the platform is handed its options, it does not know the configuration', () => {
  const known = sources.flatMap(({ path, imports }) =>
    path.startsWith('platform/') || path.startsWith('features/')
      ? imports.filter((target) => target.startsWith('config/')).map((target) => `${path} → ${target}`)
      : [],
  )
  assert.deepEqual(known, [])
})

test('a feature does not import another', () => {
  const featureOf = (path: string) => (path.startsWith('features/') ? partsOf(path)[1] : undefined)
  const crossing = sources.flatMap(({ path, imports }) =>
    imports
      .filter((target) => featureOf(path) && featureOf(target) && featureOf(path) !== featureOf(target))
      .map((target) => `${path} → ${target}`),
  )
  assert.deepEqual(crossing, [])
})

test('relative imports name the .ts file', () => {
  const bare = sources.flatMap(({ path, imports }) =>
    imports.filter((target) => !target.endsWith('.ts')).map((target) => `${path} → ${target}`),
  )
  assert.deepEqual(bare, [])
})

/** What reaches outside the program has one door each. */
const doors: [what: string, pattern: RegExp, doors: string[]][] = [
  ['the time', /\bDate\.now\(|new Date\(\)/, ['core/clock.ts']],
  ['randomness', /\brandom(Bytes|UUID|Int)\b|Math\.random/, ['core/random.ts']],
  ['the environment', /process\.env\b/, ['commands/settings.ts']],
  ['the console', /\bconsole\.(debug|dir|error|info|log|table|trace|warn)\b/, []],
]
for (const [what, pattern, allowed] of doors) {
  test(`${what} comes in by ${allowed.join(', ') || 'no door'} alone`, () => {
    const found = sources
      .filter(({ path, text }) => pattern.test(text) && !allowed.includes(path))
      .map(({ path }) => path)
    assert.deepEqual(found, [])
  })
}

test('files stay small enough to read', () => {
  const long = sources.filter(({ text }) => text.split('\n').length > 301).map(({ path }) => path)
  assert.deepEqual(long, [])
})
