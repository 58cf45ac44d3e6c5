/** Checks the direction of imports: main → commands → app → features → collections → platform → config → core. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { findTexts } from './support/source-code.ts'

const src = join(import.meta.dirname, '..', 'src')
/** `testing` and `public` are for extensions: only commands may import them. */
const layers = ['core', 'config', 'platform', 'collections', 'features', 'app', 'testing', 'public', 'commands', 'main']

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

test('sources are found', () => {
  assert.ok(sources.length > 20)
  assert.ok(sources.some(({ imports }) => imports.length > 5))
})

test('every file is in a known layer', () => {
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

/** The feature contract, which uses the types of keys and configuration. */
const knowConfiguration = ['platform/feature.ts', 'platform/infrastructure.ts', 'platform/command-line/command.ts']

test('the platform does not import the configuration', () => {
  const known = sources.flatMap(({ path, imports }) =>
    path.startsWith('platform/') && !knowConfiguration.includes(path)
      ? imports.filter((target) => target.startsWith('config/')).map((target) => `${path} → ${target}`)
      : [],
  )
  assert.deepEqual(known, [])
})

const featureOf = (path: string) => (path.startsWith('features/') ? partsOf(path)[1] : undefined)
const features = [...new Set(sources.flatMap(({ path }) => featureOf(path) ?? []))]
const definitionOf = (feature: string) => `features/${feature}/${feature}.feature.ts`

test('every feature has a definition, and app/features.ts lists it', () => {
  const list = sources.find(({ path }) => path === 'app/features.ts')
  assert.deepEqual(features.filter((name) => !list?.imports.includes(definitionOf(name))).sort(), [])
})

test('a feature imports another only through its feature file, and only if it lists it in needs', () => {
  const frontDoors = (feature: string) => [definitionOf(feature), `features/${feature}/${feature}.create.ts`]
  const crossing = sources.flatMap(({ path, imports }) => {
    const own = featureOf(path)
    return imports.flatMap((target) => {
      const other = featureOf(target)
      if (!own || !other || own === other) return []
      const needs = sources.find((source) => source.path === definitionOf(own))?.imports ?? []
      const isDeclared = needs.includes(definitionOf(other))
      return isDeclared && frontDoors(other).includes(target) ? [] : [`${path} → ${target}`]
    })
  })
  assert.deepEqual(crossing, [])
})

test('nothing below features/ mentions a feature or its tables', () => {
  const lower = sources.filter(({ path }) => layerOf(path) < layers.indexOf('features'))
  const tables = features.flatMap(tablesOf).filter((table) => !platformTables.includes(table))
  assert.ok(tables.includes('products') && tables.includes('sessions'))
  const inSql = new RegExp(`\\b(FROM|INTO|UPDATE|JOIN|TABLE)\\s+(${tables.join('|')})\\b`)
  const named = lower.filter(({ text }) => text.includes('features/') || inSql.test(text)).map(({ path }) => path)
  assert.deepEqual(named, [])
})

/** Tables created by early migrations of features, and used by the platform. */
const platformTables = ['audit', 'used_once', 'service_nodes']

function tablesOf(feature: string): string[] {
  const folder = join(src, 'features', feature, 'migrations', 'sqlite')
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/CREATE (?:VIRTUAL )?TABLE (\w+)/g)].map(
      ([, table]) => table as string,
    ),
  )
}

test('no files import each other in a circle', () => {
  const importsOf = new Map(sources.map(({ path, imports }) => [path, imports]))
  const finished = new Set<string>()
  const circles: string[] = []
  function visit(path: string, trail: string[]): void {
    if (trail.includes(path)) {
      circles.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
      return
    }
    if (finished.has(path)) return
    for (const target of importsOf.get(path) ?? []) visit(target, [...trail, path])
    finished.add(path)
  }
  for (const { path } of sources) visit(path, [])
  assert.deepEqual(circles, [])
})

test('relative imports name the .ts file', () => {
  const bare = sources.flatMap(({ path, imports }) =>
    imports.filter((target) => !target.endsWith('.ts')).map((target) => `${path} → ${target}`),
  )
  assert.deepEqual(bare, [])
})

/** Each way to reach outside the program is used in one module only. */
const doors: [what: string, pattern: RegExp, doors: string[]][] = [
  ['the time', /\bDate\.now\(|new Date\(\)/, ['core/clock.ts']],
  ['randomness', /\brandom(Bytes|UUID|Int)\b|Math\.random/, ['core/random.ts']],
  ['the environment', /process\.env\b/, ['commands/feature-settings.ts', 'testing/databases.ts']],
  ['node:http', /^import (?!type ).*'node:http'/m, ['platform/http/node-http.ts']],
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

test('SQL of features is only in stores', () => {
  const ofFeatures = sources.filter(({ path }) => path.startsWith('features/'))
  const sql = /\bSELECT\b.*\bFROM\b|\bINSERT INTO\b|\bUPDATE\b.*\bSET\b|\bDELETE FROM\b/s
  const withSql = ofFeatures.filter(({ text }) => findTexts(text).some((each) => sql.test(each)))
  assert.ok(withSql.length > 10, 'it was found')
  const elsewhere = withSql.filter(({ path }) => !path.endsWith('.store.ts')).map(({ path }) => path)
  assert.deepEqual(elsewhere, [])
})
