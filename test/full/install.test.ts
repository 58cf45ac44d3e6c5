/** Installing where much goes on at once, or something goes wrong. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { anyPort, assertNothingLeft, beforeStart, createInstalled, serves } from '../support/installs.ts'
import { findProgram } from '../support/programs.ts'
import { createProject } from '../support/project.ts'

test('three services that start in parallel in a fresh folder install once, and all of them serve', async (t) => {
  const project = createProject(t)
  const env = { ...anyPort, FAKE_NPM_MS: '1500' }
  const nodes = Array.from({ length: 3 }, (_, i) =>
    project.start('bin/latchkey', ['start'], { ...env, DATABASE_URL: `file:${project.file(`${i}.db`)}` }),
  )
  const said = await Promise.all(nodes.map(serves))
  assert.equal(project.npmCalls().length, 1)
  assert.equal(said.filter((text) => text.includes('another process is installing')).length, 2)
  assertNothingLeft(project)
})

test('after a change of the lock file, start installs; other commands warn and continue', async (t) => {
  const project = await createInstalled(t)
  project.changeLock()
  const listed = await project.run('bin/latchkey', ['--version'])
  assert.deepEqual([listed.code, project.npmCalls().length], [0, 1])
  assert.match(listed.stdout, /^\d+\.\d+\.\d+\n$/)
  assert.match(listed.stderr, /^latchkey: the dependencies are not those of package-lock\.json; .*"bin\/install".*\n$/)
  assert.equal((await project.run(...beforeStart)).code, 0)
  assert.equal(project.npmCalls().length, 2)
  assert.equal((await project.run('bin/latchkey', ['--version'])).stderr, '')
})

test('start updates development dependencies too if they are installed', async (t) => {
  const project = await createInstalled(t, ['--dev'])
  project.changeLock()
  assert.equal((await project.run(...beforeStart)).code, 0)
  assert.match(project.npmCalls()[1] ?? '', /^ci --include=dev /)
  assert.ok(project.hasDev())
})

test('with the registry unreachable, the existing install is kept and used', async (t) => {
  const project = await createInstalled(t)
  project.changeLock()
  const said = await serves(project.start('bin/latchkey', ['start'], { ...anyPort, FAKE_NPM: 'fail' }))
  assert.match(said, /npm error network/)
  assert.match(said, /could not be installed \(npm ended by 1\); going on with those that were installed before\n/)
  assertNothingLeft(project)
  const asked = await project.run('bin/install', [], { FAKE_NPM: 'fail' })
  assert.equal(asked.code, 69)
  assert.ok(existsSync(project.file('node_modules', 'fastify')))
})

test('nothing is installed in production: one line says what to run, and then it starts', async (t) => {
  const project = createProject(t)
  const env = { ...anyPort, NODE_ENV: 'production', JWT_SECRET: 'x'.repeat(40) }
  // First a command that ends in any case: a start that installs would then serve.
  assert.equal((await project.run(...beforeStart, env)).code, 69)
  const refused = await project.run('bin/latchkey', ['start'], env)
  assert.equal(refused.code, 69)
  assert.match(refused.stderr, /^latchkey: the dependencies are not installed, and .* run "bin\/install" in .*\n$/)
  assert.deepEqual(project.npmCalls(), [])
  assert.equal((await project.run('bin/install', [], env)).code, 0)
  const node = project.start('bin/latchkey', ['start'], env)
  await serves(node)
  node.kill('SIGTERM')
  project.changeLock()
  const outdated = await project.run('bin/latchkey', ['start'], env)
  assert.equal(outdated.code, 69)
  assert.match(outdated.stderr, /^latchkey: the dependencies are not those of package-lock\.json, and .*\n$/)
  for (const NODE_ENV of ['staging', 'production']) {
    assert.equal((await project.run(...beforeStart, { NODE_ENV })).code, 69, NODE_ENV)
  }
  const tests = await project.run('bin/install', ['--automatic', '--dev'], env)
  assert.match(tests.stderr, /run "bin\/install --dev" in/)
  assert.equal(project.npmCalls().length, 1)
})

test('a killed install leaves the old one in place, and the next one is complete', async (t) => {
  const project = await createInstalled(t)
  project.changeLock()
  const killed = project.start('bin/latchkey', ['start'], { ...anyPort, FAKE_NPM: 'hang' })
  await eventually(() => assert.equal(project.npmCalls().length, 2))
  const [installer] = readdirSync(project.file('.install'))
    .map((name) => Number.parseInt(name, 10))
    .filter((pid) => pid > 0)
  process.kill(installer as number, 'SIGKILL')
  await new Promise((resolve) => killed.once('exit', resolve))
  assert.match((await project.run('bin/latchkey', ['--version'])).stdout, /^\d/)
  assert.equal((await project.run(...beforeStart)).code, 0)
  assert.equal(project.npmCalls().length, 3)
  assert.equal((await project.run('bin/install', ['--check'])).code, 0)
})

test('killed between moving the old folder away and moving the new one in, nothing is lost', async (t) => {
  const project = await createInstalled(t)
  const lost = () => {
    mkdirSync(project.file('.install', '99999999-1'), { recursive: true })
    renameSync(project.file('node_modules'), project.file('.install', '99999999-1', 'old'))
  }
  lost()
  const ended = await project.run('bin/latchkey', ['--version'])
  assert.deepEqual([ended.code, ended.stderr], [0, ''])
  lost()
  const started = await project.run(...beforeStart, { FAKE_NPM: 'fail' })
  assert.deepEqual([started.code, started.stderr, project.npmCalls().length], [0, '', 1])
  assertNothingLeft(project)
})

test('a command run through a symlink from another folder does not touch a complete install', async (t) => {
  const project = await createInstalled(t)
  const before = readdirSync(project.path, { recursive: true }).length
  const link = join(temporaryFolder(t), 'lk')
  symlinkSync(project.file('bin', 'latchkey'), link)
  const ended = await project.run(link, ['--version'], { NODE_COMPILE_CACHE: temporaryFolder(t) })
  assert.deepEqual([ended.code, ended.stderr], [0, ''])
  assert.equal(readdirSync(project.path, { recursive: true }).length, before)
})

test('in a terminal, an install counts the seconds', async (t) => {
  const project = createProject(t)
  const script = findProgram('script')
  assert.ok(script, 'the tests need "script", of bsdutils or util-linux')
  symlinkSync(script, project.file('bin', 'script'))
  const args = ['-qec', project.file('bin', 'install'), '/dev/null']
  const { stdout } = await project.run('bin/script', args, { FAKE_NPM_MS: '1500', TERM: 'xterm' })
  assert.match(stdout, /latchkey: installing what serving needs, 0 s[\s\S]*needs, 1 s/)
})
