/** What the comparison in README.md says of Latchkey is proved by tests that exist. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { isTest, rowsOf } from '../support/docs.ts'

interface LockFile {
  packages: Record<string, LockedPackage>
}

interface LockedPackage {
  dependencies?: object
  optionalDependencies?: object
  dev?: true
  devOptional?: true
  optional?: true
  cpu?: string[]
}

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const [, afterHeading = ''] = readme.split('\n## How it compares\n')
const [section = ''] = afterHeading.split('\n## ')
const [heads = [], , ...rows] = rowsOf(section)
const claim = /\[([^\]\n]{1,200})\]\(([\w./-]{1,100}) "([^"\n]{1,200})"\)/g
const products = ['PocketBase', 'Directus', 'Supabase', 'Better Auth']

test('every row says something of each product, and everything said of Latchkey is a link to a test', () => {
  assert.deepEqual(heads, ['', 'Latchkey', 'PocketBase', 'Directus', 'Supabase, self-hosted', 'Better Auth'])
  assert.ok(rows.length > 10)
  for (const cells of rows) {
    const [head = '', ours = ''] = cells
    assert.equal(cells.length, heads.length, head)
    assert.ok(!cells.includes(''), head)
    assert.match(ours.replace(claim, '*'), /^\*(?:, \*)*$/, head)
  }
})

test('every test that the table names exists', () => {
  const named = rows.flatMap(([, cell = '']) => [...cell.matchAll(claim)])
  const missing = named.filter(([, , file = '', title = '']) => !isTest({ file, title }))
  assert.deepEqual(
    missing.map(([link]) => link),
    [],
  )
})

test('the numbers of packages are those of the lock file', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile
  const { dependencies = {}, optionalDependencies = {} } = packages[''] ?? {}
  const direct = Object.keys({ ...dependencies, ...optionalDependencies }).length
  const all = Object.entries(packages).filter(
    ([path, { dev, devOptional, optional, cpu }]) =>
      // What is optional and for one kind of processor is installed only there, with what it needs.
      path !== '' && !dev && !devOptional && !(optional && (cpu || !existsSync(join(root, path)))),
  ).length
  const [, cell = ''] = rows.find(([head]) => head === 'packages that npm installs') ?? []
  assert.equal([...cell.matchAll(claim)][0]?.[1], `${direct}, and ${all - direct} that these need`)
})

test('the sources of what is said of others have a date, and are named for each of them', () => {
  assert.match(section, / read in [A-Z][a-z]+ 20\d\d\. /)
  for (const product of products) {
    const sources = section.split('\n').find((line) => line.startsWith(`- ${product}, as of `)) ?? ''
    assert.match(sources, /as of [A-Z][a-z]+ 20\d\d/, product)
    assert.ok(sources.split('](https://').length > 5, product)
  }
})
