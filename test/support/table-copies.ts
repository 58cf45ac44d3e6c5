/** The programs of docs/examples/changes, and a service whose table they copy. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { root } from '../../src/config/root.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { temporaryFolder } from './databases.ts'
import { eventually } from './eventually.ts'
import { createProduct, productsPath } from './products.ts'
import { getProgram } from './programs.ts'
import { type ApiWithRoles, startApiWithRoles } from './roles.ts'

export interface CopyProgram {
  start(): void
  kill(): Promise<void>
  assertRuns(): void
  /** The rows of its file, as JSON. */
  copy(): string[]
}

/** `name.ts` and `name.py`. */
export function createPrograms(t: TestContext, name: string, env: (language: 'ts' | 'py') => Record<string, string>) {
  const folder = temporaryFolder(t)
  const create = (language: 'ts' | 'py', command: string) =>
    createProgram(t, [command, join(root, 'docs', 'examples', 'changes', `${name}.${language}`)], {
      COPY_FILE: join(folder, `${language}.db`),
      ...env(language),
    })
  const programs = [create('ts', process.execPath), create('py', getProgram('python3'))]
  return {
    start() {
      for (const program of programs) program.start()
    },

    async kill() {
      await Promise.all(programs.map((program) => program.kill()))
    },

    /** Waits until both copies equal the table. */
    async assertEqual(readTable: () => Promise<string[]>) {
      try {
        await eventually(async () => {
          const table = await readTable()
          for (const { copy } of programs) assertSame(copy(), table)
        })
      } finally {
        for (const { assertRuns } of programs) assertRuns()
      }
    },
  }
}

function createProgram(t: TestContext, [command, file]: [string, string], env: Record<string, string>): CopyProgram {
  let child: ChildProcess | undefined
  let stderr = ''
  t.after(() => child?.kill('SIGKILL'))

  function assertRuns(): void {
    assert.equal(child?.exitCode, null, stderr)
  }

  return {
    start() {
      child = spawn(command, [file], {
        env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', PYTHONDONTWRITEBYTECODE: '1', ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      child.stderr?.on('data', (chunk) => {
        stderr += chunk
      })
    },

    async kill() {
      assertRuns()
      const ended = once(child as ChildProcess, 'exit')
      child?.kill('SIGKILL')
      await ended
    },

    assertRuns,

    copy() {
      const db = new DatabaseSync(env.COPY_FILE as string, { readOnly: true })
      try {
        const rows = db.prepare('SELECT data FROM products WHERE data IS NOT NULL ORDER BY id').all()
        return rows.map(({ data }) => JSON.stringify(JSON.parse(data as string)))
      } finally {
        db.close()
      }
    },
  }
}

/** Says what differs, instead of showing both. */
function assertSame(copy: string[], table: string[]): void {
  const difference = {
    missing: table.filter((row) => !copy.includes(row)),
    wrong: copy.filter((row) => !table.includes(row)),
  }
  assert.deepEqual(difference, { missing: [], wrong: [] })
  assert.deepEqual(copy, table)
}

/** A service that comes back at the same address, with the same database. */
export async function startRestartable(t: TestContext, engine: Dialect) {
  let isDisturbed = false
  let listings = 0
  let disturbances = 0
  const open = (env: Record<string, string>) =>
    startApiWithRoles(t, {
      engine,
      env,
      extend(app) {
        app.addHook('onRequest', async (request) => {
          if (!request.url.startsWith(`${productsPath}?sort=id`)) return
          listings += 1
          if (isDisturbed) await disturb()
        })
      },
    })
  let api: ApiWithRoles = await open({})
  const { databaseUrl, url } = api
  let { access } = await api.signInAs('admin')

  /** Three of the first products are deleted, and one that was deleted before is restored: all others move by two places. */
  async function disturb(): Promise<void> {
    disturbances += 1
    const at = new Date(api.clock.now()).toISOString()
    await api.db.write(
      {
        sql: `UPDATE products SET deleted_at = NULL, version = version + 1
              WHERE id = (SELECT min(id) FROM products WHERE deleted_at IS NOT NULL)`,
        params: [],
      },
      {
        sql: `UPDATE products SET deleted_at = $1, version = version + 1
              WHERE id IN (SELECT id FROM products WHERE deleted_at IS NULL AND id > 20 ORDER BY id LIMIT 3)`,
        params: [at],
      },
    )
  }

  return {
    api: () => api,
    access: () => access,
    disturbListings(on: boolean) {
      isDisturbed = on
    },
    disturbances: () => disturbances,
    listings: () => listings,

    async fill(count: number) {
      const names = Array.from({ length: count }, (_, i) => `Product ${i}`)
      await Promise.all(names.map((name) => createProduct(api, access, { name })))
    },

    /** Creates, changes, deletes and restores. */
    async change(name: string) {
      const [first, second] = [await createProduct(api, access, { name }), await createProduct(api, access, { name })]
      for (const price of [1, 2, 3]) {
        await api.put(`${productsPath}/${first}`, { name: `${name}: ü "${price}"`, price }, access)
      }
      await api.delete(`${productsPath}/${second}`, access)
      await disturb()
      const { body } = await api.get(`${productsPath}/${first}`)
      assert.equal(body.data?.attributes.price, 3, 'it is still there')
    },

    async restart() {
      await api.app.close()
      api = await open({ DATABASE_URL: databaseUrl, PORT: new URL(url).port })
      access = (await api.signInAs('admin')).access
    },

    /** As retention does, but earlier. */
    async forgetLog() {
      await api.db.write({ sql: 'DELETE FROM changes WHERE id < (SELECT max(id) FROM changes)', params: [] })
    },

    /** By id, as the API shows them. */
    async table(): Promise<string[]> {
      const rows: string[] = []
      for (let page = 1; ; page++) {
        const { body } = await api.get(`${productsPath}?per_page=100&page=${page}`)
        rows.push(...body.data.map((product: object) => JSON.stringify(product)))
        if (page >= body.meta.last_page) return rows
      }
    },
  }
}
