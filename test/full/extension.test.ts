/** Extensions outside the repository, as `latchkey new` writes them. Needs the registry. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '../support/databases.ts'
import { latchkey } from '../support/process.ts'

const run = promisify(execFile)

/** What else an extension may have; see docs/extensions.md. */
const more = `
import { products, type ProductResource } from 'latchkey'
import { defineCommand, defineFeature, on, type ServiceOf } from 'latchkey/feature'
import tickets from './index.ts'

type Tickets = ServiceOf<typeof tickets>

export default defineFeature({
  name: 'desk',
  needs: { tickets },
  uses: { products },
  create: (_infrastructure, { tickets, products }) => ({ tickets, hasProducts: products !== undefined }),
  listeners: ({ tickets }) => [
    on<ProductResource>('product.created', { durable: 'desk' }, async ({ data }) => {
      await tickets.write(1, data.attributes.name)
    }),
  ],
  commands: [
    defineCommand<{ tickets: Tickets }>({
      name: 'desk:list',
      describe: (command) => void command.description('list tickets'),
      async run({ open }) {
        const { service, close } = await open()
        for (const { text } of await service.tickets.list(1)) process.stdout.write(text)
        await close()
      },
    }),
  ],
})
`

test('a new extension installs, type-checks and passes its tests in any folder', async (t) => {
  const parent = temporaryFolder(t)
  const made = await latchkey(['new', 'tickets'], { cwd: parent })
  assert.equal(made.code, 0, made.stderr)
  const cwd = join(parent, 'tickets')
  // npm needs what the machine says of the network: proxies, certificates, its own settings. Without the variable by which
  // Node tells that a test runs in a test.
  const { NODE_TEST_CONTEXT, ...env } = process.env
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], { cwd, env })
  writeFileSync(join(cwd, 'desk.ts'), more)
  const checked = (await run('npm', ['run', '--silent', 'check'], { cwd, env }).catch((error) => error)) as {
    stdout: string
  }
  assert.equal(checked.stdout, '')

  // The types are really there.
  writeFileSync(join(cwd, 'desk.ts'), more.replace('data.attributes.name', 'data.attributes.nam'))
  const wrong = (await run('npx', ['tsc'], { cwd, env }).catch((error) => error)) as { stdout: string }
  assert.match(wrong.stdout, /^desk\.ts\(\d+,\d+\): error TS2551: Property 'nam' does not exist/)
  writeFileSync(join(cwd, 'desk.ts'), more)

  const tested = await run('npm', ['test'], { cwd, env })
  assert.match(tested.stdout, /pass 4\b/)
  const extensions = { LATCHKEY_EXTENSIONS: `${cwd},${join(cwd, 'desk.ts')}` }
  const help = await latchkey(['--help'], { env: extensions })
  assert.match(help.stdout, /desk:list/, help.stderr)
})
