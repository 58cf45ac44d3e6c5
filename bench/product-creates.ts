/** Creates that are on the disk before they are answered, beside the same ones that wait for no disk. */
import { join } from 'node:path'
import { atLeast, type Benchmark, median, perSecond, told } from './support/benchmark.ts'
import { measureSync } from './support/disk.ts'
import { load } from './support/load.ts'
import { signIn } from './support/people.ts'
import { script } from './support/post.ts'
import { startService } from './support/service.ts'

export const body = JSON.stringify({ name: 'Desk Lamp', description: 'Bright and warm', price: 19.99, stock: 3 })

const noSync = join(import.meta.dirname, 'support', 'no-sync.ts')
const ways = ['durable', 'careless', 'alone'] as const

export const productCreates: Benchmark = async () => {
  // Their threads share the two cores with the load: what a commit costs is what is measured.
  const durable = await startService('one-commit.ts', {}, { isPinned: false })
  const careless = await startService('service.ts', { NODE_OPTIONS: `--import ${noSync}` }, { isPinned: false })
  try {
    const tokens = { durable: await signIn(durable.url), careless: await signIn(careless.url) }
    const targets = {
      durable: { url: `${durable.url}/api/v2/products`, token: tokens.durable },
      careless: { url: `${careless.url}/api/v2/products`, token: tokens.careless },
      alone: { url: `${durable.url}/one-commit`, token: tokens.durable },
    }
    const create = (way: (typeof ways)[number], seconds: number) => {
      const { url, token } = targets[way]
      return load(url, { connections: 64, seconds, script, env: { TOKEN: token, BODY: body } })
    }
    for (const way of ways) create(way, 4)
    const rounds = Array.from({ length: 5 }, () => ({
      alone: create('alone', 3),
      careless: create('careless', 3),
      durable: create('durable', 3),
    }))
    const rate = (way: (typeof ways)[number]) => perSecond(median(rounds.map((round) => round[way])))
    const disk = `this disk keeps a page in ${measureSync().toFixed(2)} ms`
    return [
      atLeast('durable creates over 64 connections, of the same with synchronous=OFF', 0.5, {
        ratios: rounds.map((round) => round.durable / round.careless),
        note: `${rate('durable')} of ${rate('careless')}; ${disk}`,
      }),
      told('durable creates over 64 connections, times one commit per request', {
        ratios: rounds.map((round) => round.durable / round.alone),
        note: `${rate('durable')} of ${rate('alone')}`,
      }),
    ]
  } finally {
    await durable.stop()
    await careless.stop()
  }
}
