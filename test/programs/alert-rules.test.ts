/** The alert rules, as Prometheus reads them. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { getProgram } from '../support/programs.ts'

const rulesFile = join(root, 'deploy', 'alert-rules.yaml')
const casesFile = join(root, 'test', 'programs', 'alert-rules.yaml')
const alerts = [...readFileSync(rulesFile, 'utf8').matchAll(/- alert: (\w+)$/gm)].map(([, name]) => name as string)

function promtool(...args: string[]): [status: number | null, output: string] {
  const { status, stdout, stderr } = spawnSync(getProgram('promtool'), args, { encoding: 'utf8' })
  return [status, stdout + stderr]
}

test("the rules pass Prometheus's own check", () => {
  const [status, output] = promtool('check', 'rules', rulesFile)
  assert.equal(status, 0, output)
  assert.match(output, new RegExp(`SUCCESS: ${alerts.length} rules found`))
})

test('each alert fires when it should, and none for a healthy service', () => {
  const [status, output] = promtool('test', 'rules', casesFile)
  assert.equal(status, 0, output)
  const cases = readFileSync(casesFile, 'utf8')
  assert.deepEqual(
    alerts.filter((name) => !cases.includes(`alertname: ${name}\n`)),
    [],
    'alerts without a case',
  )
})

test('the guide says what to do about each alert', () => {
  const guide = readFileSync(join(root, 'docs', 'monitoring.md'), 'utf8')
  assert.ok(alerts.length > 10)
  assert.deepEqual(
    alerts.filter((name) => !guide.includes(`| \`${name}\` |`)),
    [],
  )
})
