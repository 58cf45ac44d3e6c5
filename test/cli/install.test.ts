/** Installing: only on request, all or nothing, and visible. test/full/install.test.ts has more. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { eventually } from '../support/eventually.ts'
import { anyPort, assertNothingLeft, serves } from '../support/installs.ts'
import { createProject } from '../support/project.ts'

test('a command without dependencies installs nothing and prints what to run', async (t) => {
  const project = createProject(t)
  for (const args of [['user:list'], ['--config', 'start', 'migrate'], ['start', '--help'], ['--version']]) {
    const ended = await project.run('bin/latchkey', args)
    assert.equal(ended.code, 69)
    assert.equal(
      ended.stderr,
      `latchkey: the dependencies are not installed; run "bin/install" in ${project.path}\n`,
      args.join(' '),
    )
  }
  assert.deepEqual([project.npmCalls(), existsSync(project.file('node_modules'))], [[], false])
})

test('the first start installs the dependencies and serves; the next one finds them installed', async (t) => {
  const project = createProject(t)
  const said = await serves(project.start('bin/latchkey', ['start'], anyPort))
  assert.match(said, /latchkey: installing what serving needs/)
  assert.match(said, /latchkey: installed in \d+ s/)
  assert.deepEqual([project.npmCalls().length, project.hasDev()], [1, false])
  assert.match(project.npmCalls()[0] ?? '', /^ci --omit=dev /)
  assertNothingLeft(project)
  const later = new Date(Date.now() + 3600_000)
  utimesSync(project.file('package-lock.json'), later, later)
  const next = await project.run('bin/latchkey', ['--config', project.file('config')], { PORT: 'x' })
  assert.deepEqual([next.code, next.stderr], [78, 'latchkey: PORT must be an integer from 0 to 65535\n'])
  assert.equal(project.npmCalls().length, 1, 'times of files mean nothing')
  assert.equal((await project.run('bin/install', ['--dev'])).code, 0)
  assert.deepEqual([project.npmCalls().length, project.hasDev()], [2, true])
  assert.equal((await project.run('bin/install', ['--automatic'])).stderr, '')
})

test('with the registry unreachable and nothing installed, start says what to do and leaves nothing behind', async (t) => {
  const project = createProject(t)
  const ended = await project.run('bin/latchkey', ['start'], { FAKE_NPM: 'fail' })
  assert.equal(ended.code, 69)
  assert.match(ended.stderr, /latchkey: the dependencies could not be installed .* run "bin\/install" in .*\n$/)
  assert.equal(existsSync(project.file('node_modules')), false)
  assertNothingLeft(project)
})

test('an install interrupted by Ctrl-C leaves nothing behind', async (t) => {
  const project = createProject(t)
  const child = project.start('bin/install', [], { FAKE_NPM: 'hang' })
  await eventually(() => assert.equal(project.npmCalls().length, 1))
  child.kill('SIGINT')
  const [code] = await new Promise<unknown[]>((resolve) => child.once('close', (...ended) => resolve(ended)))
  assert.equal(code, 130)
  assertNothingLeft(project)
  assert.equal(existsSync(project.file('node_modules')), false)
})

test('engines states what an install needs; the Node for serving is a dependency of the required version', () => {
  const read = (name: string) => readFileSync(join(root, name), 'utf8')
  const { engines, dependencies } = JSON.parse(read('package.json'))
  assert.deepEqual(engines, { node: '>=20', npm: '>=9.6' })
  assert.match(read('README.md'), /Node 20 or newer with its npm \(9\.6 or newer\)/)
  assert.equal(JSON.parse(read('package-lock.json')).packages['node_modules/node'].dev, undefined)
  const [, asked] = /needs Node (\d+) or newer/.exec(read('bin/latchkey')) ?? []
  assert.equal(dependencies.node.split('.')[0], asked)
  assert.match(read('Dockerfile'), new RegExp(`^FROM node:${asked}-`, 'm'))
})
