/** The commands of docs/backup.md run, one after another. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { temporaryFolder } from '../support/databases.ts'
import { blocksOf } from '../support/docs.ts'

const page = readFileSync(join(root, 'docs', 'backup.md'), 'utf8')

test('the commands on the page run, one after another', (t) => {
  const folder = temporaryFolder(t)
  symlinkSync(join(root, 'bin'), join(folder, 'bin'))
  const env = { PATH: process.env.PATH ?? '', DATABASE_URL: `file:${join(folder, 'test.db')}` }
  const run = (script: string) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', script], { cwd: folder, env, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    return stdout
  }
  const [byHand = '', restore = '', move = '', ...more] = blocksOf(page, 'sh')
  assert.equal(more.length, 0)
  run('bin/latchkey products:seed --count 10 --quiet')
  assert.match(run(byHand), /^backed up .*\nthe archive is whole\n(.*\n)* {2}products: 10\n/)
  assert.match(run(restore), /^restored /)
  assert.match(run(move.replace('/tmp/', `${folder}/`)), /^moved /)
})
