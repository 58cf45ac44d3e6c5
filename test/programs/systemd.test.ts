/** The unit of docs/deployment.md. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { temporaryFolder } from '../support/databases.ts'
import { blocksOf } from '../support/docs.ts'
import { getProgram } from '../support/programs.ts'

const unit = readFileSync(join(root, 'deploy', 'latchkey.service'), 'utf8')

test('the unit on the page is the file that the page says to copy', () => {
  assert.deepEqual(blocksOf(readFileSync(join(root, 'docs', 'deployment.md'), 'utf8'), 'ini'), [unit])
})

test('systemd-analyze accepts the unit without warnings and rates it as hardened', (t) => {
  const file = join(temporaryFolder(t), 'latchkey.service')
  // systemd-analyze looks for the program, which is in another folder here.
  writeFileSync(file, unit.replaceAll('/srv/latchkey', root))
  const analyze = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(getProgram('systemd-analyze'), [...args, file], { encoding: 'utf8' })
    return { status, said: stdout + stderr }
  }
  assert.deepEqual(analyze('verify', '--recursive-errors=no'), { status: 0, said: '' })
  // A tenth of "OK" to "UNSAFE": what is left are the network, which it serves, and V8's compiler.
  const rated = analyze('security', '--offline=true', '--threshold=20', '--no-pager')
  assert.equal(rated.status, 0, rated.said)
  assert.doesNotMatch(unit, /^MemoryDenyWriteExecute/m, 'V8 could not compile')
})
