/** Creates that are on the disk before they are answered: committed together, beside one commit each. */
import { atLeast, type Benchmark, median, perSecond } from './support/benchmark.ts'
import { measureSync } from './support/disk.ts'
import { load } from './support/load.ts'
import { signIn } from './support/people.ts'
import { script } from './support/post.ts'
import { startService } from './support/service.ts'

export const body = JSON.stringify({ name: 'Desk Lamp', description: 'Bright and warm', price: 19.99, stock: 3 })

export const productCreates: Benchmark = async () => {
  // Its threads share the two cores with the load: what a commit costs is what is measured.
  const service = await startService('one-commit.ts', {}, { isPinned: false })
  try {
    const env = { TOKEN: await signIn(service.url), BODY: body }
    const together = `${service.url}/api/v2/products`
    const alone = `${service.url}/one-commit`
    for (const url of [together, alone]) load(url, { connections: 64, seconds: 4, script, env })
    const rounds = Array.from({ length: 5 }, () => ({
      alone: load(alone, { connections: 64, seconds: 3, script, env }),
      together: load(together, { connections: 64, seconds: 3, script, env }),
    }))
    const rate = (which: 'alone' | 'together') => perSecond(median(rounds.map((round) => round[which])))
    return [
      atLeast('durable creates over 64 connections, times one commit per request', 4, {
        ratios: rounds.map((round) => round.together / round.alone),
        note: `${rate('together')} of ${rate('alone')}; this disk keeps a page in ${measureSync().toFixed(2)} ms`,
      }),
    ]
  } finally {
    await service.stop()
  }
}
