/** One value to thousands of subscribers, compared with a loop over bare `ws` sockets that sends the same bytes. */
import { setTimeout as sleep } from 'node:timers/promises'
import { atLeast, type Benchmark, median, perSecond } from './support/benchmark.ts'
import { firstCount, openSubscribers, type Subscribers } from './support/fan-out.ts'
import { type BenchServer, startServer } from './support/load.ts'
import { startService } from './support/service.ts'

const count = 5000
const values = 20
const rounds = 9

const query = 'subscription { counter { count } }'
const valueBytes = 2 + JSON.stringify({ data: { counter: { count: firstCount } } }).length

interface Side {
  server: BenchServer
  subscribers: Subscribers
  bytesEach: number
}

export const fanOut: Benchmark = async () => {
  const sides: Side[] = []
  try {
    const env = { GQL_WS_MAX_PER_ADDRESS: String(count), MAX_EVENT_LOOP_DELAY_MS: '0', NODE_OPTIONS: '--expose-gc' }
    const service = await open(await startService('fan-out.ts', env))
    sides.push(service)
    const bare = await open(await startServer('broadcast.ts', env))
    sides.push(bare)
    for (const side of sides) await measure(side)
    const measured: { service: number; bare: number }[] = []
    for (let i = 0; i < rounds; i++) {
      measured.push({ service: await measure(service), bare: await measure(bare) })
    }
    const rate = (name: 'service' | 'bare') => perSecond(median(measured.map((each) => each[name])))
    const memory = `${service.bytesEach} bytes per subscriber, per bare socket ${bare.bytesEach}`
    return [
      atLeast(`a value to ${count.toLocaleString('en')} subscribers, as a fraction of a loop over bare sockets`, 0.6, {
        ratios: measured.map((each) => each.service / each.bare),
        note: `${rate('service')} of ${rate('bare')}; ${memory}`,
      }),
    ]
  } finally {
    for (const { server, subscribers } of sides) {
      subscribers.close()
      await server.stop()
    }
  }
}

async function open(server: BenchServer): Promise<Side> {
  const before = await stateOf(server)
  const subscribers = await openSubscribers(server.url, count, JSON.stringify({ query }))
  let after = await stateOf(server)
  while (after.subscribers < count) {
    await sleep(100)
    after = await stateOf(server)
  }
  return { server, subscribers, bytesEach: Math.round((after.memory.heap - before.memory.heap) / count) }
}

async function stateOf({ url }: BenchServer): Promise<{ subscribers: number; memory: { heap: number } }> {
  return (await (await fetch(`${url}/state`)).json()) as never
}

/** Messages per second. */
async function measure({ server, subscribers }: Side): Promise<number> {
  const done = subscribers.receive(valueBytes * values * count)
  const startedAt = performance.now()
  await Promise.all([fetch(`${server.url}/publish?values=${values}`), done])
  return (values * count) / ((performance.now() - startedAt) / 1000)
}
