/** Durable creates of products with the change log, compared with creates on a database whose triggers write none. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../src/config/root.ts'
import type { Database } from '../src/platform/database/database.ts'
import { body } from './product-creates.ts'
import { atLeast, type Benchmark, inTurn, median, perSecond, type Result } from './support/benchmark.ts'
import { fill, openDataset } from './support/dataset.ts'
import { type Engine, onEachEngine } from './support/each-engine.ts'
import { type BenchServer, measureLoad } from './support/load.ts'
import { signIn } from './support/people.ts'
import { script } from './support/post.ts'
import { startVersion } from './support/versions.ts'

const cores = '0-1'
const connections = 64
const products = 1000
const rounds = 7
const seconds = 3
const warmUpSeconds = 5

export const changeLogCost: Benchmark = () => onEachEngine(measureOn)

async function measureOn({ name, createDatabase }: Engine): Promise<Result[]> {
  const servers: BenchServer[] = []
  const start = async (prepare: (db: Database) => Promise<unknown>) => {
    const databaseUrl = await createDatabase()
    await fill(databaseUrl, products)
    const db = await openDataset(databaseUrl)
    await prepare(db).finally(() => db.close())
    const server = await startVersion({ place: root, databaseUrl, cores, env: { THREADS: '1' } })
    servers.push(server)
    const token = await signIn(server.url)
    return (duration: number) => {
      const env = { BODY: body, TOKEN: token }
      return measureLoad(`${server.url}/api/v2/products`, { connections, seconds: duration, cores, script, env }).rate
    }
  }
  try {
    const logged = await start(async () => {})
    const unlogged = await start(removeLog)
    logged(warmUpSeconds)
    unlogged(warmUpSeconds)
    const all = inTurn(rounds, { logged: () => logged(seconds), unlogged: () => unlogged(seconds) })
    const rate = (side: 'logged' | 'unlogged') => perSecond(median(all.map((round) => round[side])))
    return [
      atLeast(`${name}: durable creates with the change log and its index, as a fraction of those without`, 0.8, {
        ratios: all.map((round) => round.logged / round.unlogged),
        note: `${rate('logged')} of ${rate('unlogged')}`,
      }),
    ]
  } finally {
    for (const server of servers) await server.stop()
  }
}

async function removeLog(db: Database): Promise<void> {
  await db.write({ sql: 'DROP INDEX changes_entity' })
  await db.write({ sql: db.dialect === 'sqlite' ? 'DROP TRIGGER products_logged' : countingFunction() })
}

/** On PostgreSQL one trigger counts and logs: this is the one from before there was a log. */
function countingFunction(): string {
  const file = join(root, 'src/features/products/migrations/postgres/0005-products.sql')
  const definition = /CREATE FUNCTION (count_new_products\(\).*?END \$\$);/s.exec(readFileSync(file, 'utf8'))
  if (!definition) throw new Error(`count_new_products is not in ${file}`)
  return `CREATE OR REPLACE FUNCTION ${definition[1]}`
}
