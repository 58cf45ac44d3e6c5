/** The commands of docs/import-export.md run, one after another. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { root } from '../../src/config/root.ts'
import { exportedColumns } from '../../src/features/products/transfer/columns.ts'
import { temporaryFolder } from '../support/databases.ts'
import { blocksOf } from '../support/docs.ts'

const page = readFileSync(join(root, 'docs', 'import-export.md'), 'utf8')

test('the commands on the page run, one after another, and print what it says', (t) => {
  const folder = temporaryFolder(t)
  symlinkSync(join(root, 'bin'), join(folder, 'bin'))
  writeFileSync(join(folder, 'products.csv.gz'), gzipSync('name,description,price\nCup,Holds coffee,5\n'))
  const env = { PATH: process.env.PATH ?? '', DATABASE_URL: `file:${join(folder, 'test.db')}` }
  const run = (script: string) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', script], { cwd: folder, env, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    return stdout
  }
  const [first = '', piped = '', ...more] = blocksOf(page, 'sh')
  assert.equal(more.length, 0)
  const shown = run(first.replace('--count 10000', '--count 100'))
  assert.match(shown, /^imported 2 products, skipped 0, in [\d.]+ s\n/)
  assert.ok(shown.split('\n').includes(exportedColumns.join(',')), shown)
  assert.match(shown, /^1,Desk Lamp,desk-lamp,"Bright, warm",1234\.50,home,3,true,/m)
  assert.equal(readFileSync(join(folder, 'all.ndjson'), 'utf8').trimEnd().split('\n').length, 2)
  assert.match(run(piped), /^imported 1 products?, skipped 0/)
})
