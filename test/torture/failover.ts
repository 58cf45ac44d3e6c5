/** Kills a primary under write load and promotes its synchronous standby: how long nothing is written, and what is lost. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { createClient } from '../../src/testing/client.ts'
import { runOnServer } from '../../src/testing/databases.ts'
import { startProcess } from '../support/process.ts'
import { killTree } from '../support/process-tree.ts'
import { lamp, productsPath } from '../support/products.ts'
import { createRunFolder, findPlace, registerProcess } from '../support/run-folder.ts'
import { startPostgresProcess, startStandbyProcess } from '../support/servers.ts'

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    writers: { type: 'string', default: '20' },
    before: { type: 'string', default: '5' },
    after: { type: 'string', default: '10' },
  },
})
const run = createRunFolder(findPlace())
process.env.TEST_RUN_FOLDER = run.path
const cleanUps: (() => unknown)[] = []
try {
  process.exitCode = await failOver()
} finally {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
  await run.remove()
}

async function failOver(): Promise<number> {
  const primary = await startPostgresProcess(newFolder('primary'))
  const standby = await startStandbyProcess(newFolder('standby'), primary.url)
  for (const { pid } of [primary, standby]) registerProcess(run.path, pid)
  // After the copy was made, so that the standby does not wait for one of its own once it is promoted.
  await runOnServer(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
  await runOnServer(primary.url, 'SELECT pg_reload_conf()')
  const hosts = [primary, standby].map(({ url }) => new URL(url).host).join(',')
  const { url } = await startProcess(
    { after: (work: () => unknown) => void cleanUps.push(work) },
    {
      env: {
        DATABASE_URL: `postgres://latchkey@${hosts}/postgres?target_session_attrs=read-write`,
        JWT_SECRET: 'a secret of more than thirty-two bytes',
        BCRYPT_COST: '4',
      },
    },
  )
  const access = await createClient(url).signIn()
  const load = startLoad(url, access, Number(values.writers))
  await sleep(Number(values.before) * 1000)
  const killedAt = performance.now()
  killTree(primary.pid)
  await runOnServer(standby.url, 'SELECT pg_promote()')
  const promotedAt = performance.now()
  await sleep(Number(values.after) * 1000)
  await load.stop()
  const lost = await countLost(standby.url, load.acknowledged)
  return report({ ...load, killedAt, promotedAt, lost })
}

function newFolder(name: string): string {
  const folder = join(run.path, name)
  mkdirSync(folder, { mode: 0o755 })
  return folder
}

interface Acknowledged {
  name: string
  at: number
}

/** Creates products, each with a name of its own, and notes every answer. */
function startLoad(url: string, access: string, writers: number) {
  const client = createClient(url)
  const acknowledged: Acknowledged[] = []
  const answers = new Map<string, number>()
  let isStopping = false
  async function write(writer: number): Promise<void> {
    for (let i = 0; !isStopping; i++) {
      const name = `Lamp ${writer}-${i}`
      const status = await client.post(productsPath, { ...lamp, name }, access).then(
        (response) => String(response.status),
        () => 'no answer',
      )
      if (status === '201') acknowledged.push({ name, at: performance.now() })
      else await sleep(20)
      answers.set(status, (answers.get(status) ?? 0) + 1)
    }
  }
  const all = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  return {
    acknowledged,
    answers,
    async stop() {
      isStopping = true
      await all
    },
  }
}

async function countLost(url: string, acknowledged: readonly Acknowledged[]): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>('SELECT name FROM products')
    const kept = new Set(rows.map(({ name }) => name))
    return acknowledged.filter(({ name }) => !kept.has(name)).length
  } finally {
    await client.end()
  }
}

interface Outcome {
  acknowledged: readonly Acknowledged[]
  answers: ReadonlyMap<string, number>
  killedAt: number
  promotedAt: number
  lost: number
}

function report({ acknowledged, answers, killedAt, promotedAt, lost }: Outcome): number {
  const last = acknowledged.findLast(({ at }) => at < killedAt)
  const next = acknowledged.find(({ at }) => at > promotedAt)
  const unexpected = [...answers.keys()].filter((status) => status !== '201' && status !== '503')
  const gap = last && next ? `${Math.round(next.at - last.at)} ms` : 'for ever'
  process.stdout.write(
    [
      `answers: ${[...answers].map(([status, count]) => `${status} ${count} times`).join(', ')}`,
      `from the kill to the promotion: ${Math.round(promotedAt - killedAt)} ms`,
      `without writes: ${gap}`,
      `acknowledged writes: ${acknowledged.length}`,
      `acknowledged writes lost: ${lost}`,
      `answers other than 201 and 503: ${unexpected.join(', ') || 'none'}`,
      '',
    ].join('\n'),
  )
  return lost === 0 && next && unexpected.length === 0 ? 0 : 1
}
