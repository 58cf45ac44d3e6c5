/** The bundle that bin/latchkey runs, beside the sources that it is made from. To make one takes seconds. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { createClient } from '../../src/testing/client.ts'
import { temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { latchkey, startProcess } from '../support/process.ts'
import { childrenOf } from '../support/process-tree.ts'
import { chosen, isFull } from '../support/tiers.ts'

const forms: Record<string, Record<string, string>> = { 'the bundle': {}, 'the sources': { LATCHKEY_BUNDLE: 'off' } }
const orders = join(root, 'examples', 'orders', 'orders.ts')
const inEachForm = async <T>(work: (env: Record<string, string>) => Promise<T>) =>
  Promise.all(Object.values(forms).map((env) => work(env)))

/** Bundled with the dependencies of this project. */
function copyProject(t: TestContext, names = ['bin', 'src', 'config', 'package.json', 'package-lock.json']): string {
  const program = join(temporaryFolder(t), 'project')
  for (const name of names) cpSync(join(root, name), join(program, name), { recursive: true, preserveTimestamps: true })
  mkdirSync(join(program, 'node_modules'))
  const found = readdirSync(join(root, 'node_modules'))
  for (const name of found.filter((each) => each !== '.cache'))
    symlinkSync(join(root, 'node_modules', name), join(program, 'node_modules', name))
  return program
}

const bundle = (program: string) => execFileSync(join(program, 'bin', 'install'), { stdio: 'pipe' })

function folderOf(program: string): string {
  const folder = join(program, '.bundle')
  return join(folder, JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')).bundle)
}

test('help, versions, mistakes and problems of the configuration read the same in both forms', async () => {
  const commands = [['--help'], ['--version'], ['products:import', '--help'], ['strat'], ['migrate', '--nonsense']]
  for (const args of chosen(commands, ([command]) => command === '--help' || command === 'strat')) {
    const [one, other] = await inEachForm((env) => latchkey(args, { env }))
    assert.deepEqual(one, other, args.join(' '))
  }
  const [one, other] = await inEachForm((env) => latchkey(['start'], { env: { ...env, PORT: 'x', BCRYPT_COST: '99' } }))
  assert.deepEqual(one, other)
  assert.match(one?.stderr ?? '', /PORT must be/)
})

test('a stack trace names the sources, with their lines', async () => {
  const placesOf = (text: string) => [...text.matchAll(/src\/[\w/.-]+\.ts:\d+/g)].map(([place]) => place)
  const [one, other] = await inEachForm((env) =>
    latchkey(['migrate', '--debug'], { env: { ...env, DATABASE_URL: 'nonsense' } }),
  )
  const places = placesOf(one?.stderr ?? '')
  assert.match(places[0] ?? '', /^src\/config\/config\.ts:/)
  assert.ok(places.length > 3)
  assert.deepEqual(places, placesOf(other?.stderr ?? ''))
})

/** Other tests serve from the sources. */
for (const [name, form] of chosen(Object.entries(forms), ([name]) => name === 'the bundle')) {
  for (const threads of chosen(['1', '2'], (count) => count === '1')) {
    test(`from ${name}, with ${threads === '1' ? 'one thread' : 'two threads'}: extensions work, and what is loaded late`, async (t) => {
      const folder = temporaryFolder(t)
      const { url, child, ended } = await startProcess(t, {
        env: {
          ...form,
          THREADS: threads,
          DATABASE_URL: `file:${join(folder, 'test.db')}`,
          JWT_SECRET: 'x'.repeat(32),
          BCRYPT_COST: '4',
          PUBLIC_URL: 'http://localhost:3000',
          REFUSE_COMMON_PASSWORDS: 'true',
          LATCHKEY_EXTENSIONS: orders,
        },
      })
      const client = createClient(url)
      const person = { name: 'Ada', email: 'ada@example.com', password: 'Correct-horse-9' }
      // A dictionary of common passwords, then bcrypt in threads.
      assert.equal((await client.post('/api/auth/register', { ...person, password: 'Password1!' })).status, 422)
      assert.equal((await client.post('/api/auth/register', person)).status, 201)
      const { body: tokens } = (await client.post('/api/auth/login', person)) as { body: { access_token: string } }
      const token = tokens.access_token
      // A QR code and WebAuthn.
      assert.equal((await client.post('/api/auth/2fa/setup', { password: person.password }, token)).status, 200)
      assert.equal((await client.post('/api/auth/passkeys/options', { password: person.password }, token)).status, 200)
      const product = { name: 'Lamp', description: 'Bright', price: 1 }
      assert.equal((await client.post('/api/v2/products', product, token)).status, 201)
      // The thread for scans, and compiled GraphQL.
      assert.equal((await client.get('/api/v2/products?q=lamp')).status, 200)
      const { body } = await client.post('/graphql', { query: '{ products { data { name } } }' })
      assert.deepEqual(body, { data: { products: { data: [{ name: 'Lamp' }] } } })
      assert.equal((await client.get('/api/orders')).status, 401)
      assert.equal((await client.get('/api/orders', token)).status, 200)
      assert.equal((await client.get('/metrics')).status, 200)
      for (const path of ['/docs', '/openapi.json', '/graphiql', '/console/sign-in', '/console/assets/console.css'])
        assert.equal((await client.get(path)).status, 200, path)
      child.kill('SIGTERM')
      const { code, stderr } = await ended
      // Where one thread is late, another takes its connections, for which Node warns.
      const unexpected = stderr.replace(/^\(node:\d+\) ExperimentalWarning: FFI .*\n\(Use .*\)\n/, '')
      assert.deepEqual([code, unexpected], [0, ''])
    })
  }
}

/** The smallest program that can be bundled: how is the same for all of them. */
const smallProgram = {
  'main.ts': `import { version } from './version.ts'
const [asked] = process.argv.slice(2)
process.exitCode = asked === '--version' ? 0 : 78
if (asked === '--version') process.stdout.write(version)
else process.stderr.write('latchkey: PORT must be a number\\n')
export const finished = Promise.resolve()
`,
  'version.ts': `export const version = '0.1.0\\n'\n`,
}

/** The project with that program, bundled. */
function startBundled(t: TestContext) {
  const program = copyProject(t, ['bin', 'package.json', 'package-lock.json'])
  mkdirSync(join(program, 'src'))
  for (const [name, text] of Object.entries(smallProgram)) writeFileSync(join(program, 'src', name), text)
  bundle(program)
  return {
    program,
    file: (...names: string[]) => join(program, ...names),
    run: (...args: string[]) => latchkey(args, { program, env: { PORT: 'x' } }),
    /** Only the bundle says so. */
    mark: () => appendFileSync(join(folderOf(program), 'main.cjs'), "process.stderr.write('bundled\\n')\n"),
  }
}

test('the bundle runs while it is that of the sources; a start in production makes none', async (t) => {
  const { program, file, run, mark } = startBundled(t)
  mark()
  assert.deepEqual(await run('--version'), { code: 0, stdout: '0.1.0\n', stderr: 'bundled\n' })
  // As after a checkout.
  utimesSync(file('src', 'main.ts'), new Date(0), new Date(0))
  assert.equal((await run('--version')).stderr, 'bundled\n')
  // It has kept the new time, and has no content to compare any more.
  rmSync(file('.bundle', basename(folderOf(program)), 'digests.json'))
  assert.equal((await run('--version')).stderr, 'bundled\n')
  // Of which nothing but a constant is used elsewhere.
  appendFileSync(file('src', 'version.ts'), '// Changed.\n')
  assert.equal((await run('--version')).stderr, '')
  const inProduction = await latchkey(['start'], { program, env: { PORT: 'x', NODE_ENV: 'production' } })
  assert.match(inProduction.stderr, /^latchkey: PORT must be/)
})

if (isFull) {
  test('a start in development makes the bundle anew; without one the sources run', async (t) => {
    const { program, file, run, mark } = startBundled(t)
    const main = file('src', 'main.ts')
    appendFileSync(main, '// Changed.\n')
    assert.match(
      (await run('start')).stderr,
      /^latchkey: bundling the sources\nlatchkey: bundled in .*\n.*PORT must be/s,
    )
    mark()
    assert.equal((await run('--version')).stderr, 'bundled\n')
    appendFileSync(main, '// Changed again.\n')
    assert.equal((await run('--version')).stderr, '')
    bundle(program)
    rmSync(join(folderOf(program), 'main.cjs'))
    assert.equal((await run('--version')).stdout, '0.1.0\n', 'the sources')
    appendFileSync(main, 'this is not TypeScript')
    const broken = await run('start')
    assert.match(broken.stderr, /the sources cannot be bundled, so they run as they are: .*main\.ts/s)
    assert.notEqual(broken.code, 0)
  })

  test('a build that is ended leaves nothing behind, and nothing that runs', async (t) => {
    const program = copyProject(t)
    const TMPDIR = temporaryFolder(t)
    const build = spawn(process.execPath, [join(program, 'bin', 'bundle.ts')], { env: { ...process.env, TMPDIR } })
    const ended = once(build, 'exit')
    // The program is being started, so that its code is compiled.
    await eventually(() => assert.ok(readdirSync(TMPDIR).some((name) => readdirSync(join(TMPDIR, name)).length > 0)))
    const [started] = childrenOf(build.pid as number)
    build.kill('SIGTERM')
    assert.deepEqual(await ended, [143, null])
    assert.deepEqual([readdirSync(TMPDIR), readdirSync(join(program, '.bundle'))], [[], []])
    await eventually(() => assert.throws(() => process.kill(started as number, 0), { code: 'ESRCH' }))
  })
}
