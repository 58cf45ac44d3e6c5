/** Durable creates of products, compared with creates without fsync and with one commit per request. */
import { join } from 'node:path'
import { atLeast, type Benchmark, median, perSecond, reported } from './support/benchmark.ts'
import { measureSync } from './support/disk.ts'
import { load } from './support/load.ts'
import { signIn } from './support/people.ts'
import { script } from './support/post.ts'
import { startService } from './support/service.ts'

export const body = JSON.stringify({ name: 'Desk Lamp', description: 'Bright and warm', price: 19.99, stock: 3 })

const noSync = join(import.meta.dirname, 'support', 'no-sync.ts')
const ways = ['durable', 'unsynced', 'alone'] as const

export const productCreates: Benchmark = async () => {
  // Not pinned: their threads share the two cores with the load, because this measures the cost of a commit.
  const durable = await startService('one-commit.ts', {}, { isPinned: false })
  const unsynced = await startService('service.ts', { NODE_OPTIONS: `--import ${noSync}` }, { isPinned: false })
  try {
    const tokens = { durable: await signIn(durable.url), unsynced: await signIn(unsynced.url) }
    const targets = {
      durable: { url: `${durable.url}/api/v2/products`, token: tokens.durable },
      unsynced: { url: `${unsynced.url}/api/v2/products`, token: tokens.unsynced },
      alone: { url: `${durable.url}/one-commit`, token: tokens.durable },
    }
    const create = (way: (typeof ways)[number], seconds: number) => {
      const { url, token } = targets[way]
      return load(url, { connections: 64, seconds, script, env: { TOKEN: token, BODY: body } })
    }
    for (const way of ways) create(way, 4)
    const rounds = Array.from({ length: 5 }, () => ({
      alone: create('alone', 3),
      unsynced: create('unsynced', 3),
      durable: create('durable', 3),
    }))
    const rate = (way: (typeof ways)[number]) => perSecond(median(rounds.map((round) => round[way])))
    const disk = `fsync of a page takes ${measureSync().toFixed(2)} ms`
    return [
      atLeast('durable creates over 64 connections, as a fraction of synchronous=OFF', 0.5, {
        ratios: rounds.map((round) => round.durable / round.unsynced),
        note: `${rate('durable')} of ${rate('unsynced')}; ${disk}`,
      }),
      reported('durable creates over 64 connections, as a multiple of one commit per request', {
        ratios: rounds.map((round) => round.durable / round.alone),
        note: `${rate('durable')} of ${rate('alone')}`,
      }),
    ]
  } finally {
    await durable.stop()
    await unsynced.stop()
  }
}
