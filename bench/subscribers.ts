/** Values to thousands of subscribers, beside a bare broadcast of the same bytes; and what an idle one takes. */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { atLeast, atMost, type Benchmark, median, perSecond } from './support/benchmark.ts'
import { type BenchServer, startServer } from './support/load.ts'
import { startService } from './support/service.ts'
import { frameBytes, openReaders, type Readers } from './support/sockets.ts'

const count = 5000
const values = 40
const rounds = 5
const subscription = JSON.stringify({ query: 'subscription { counter { count } }' })
const textOf = (value: number) => JSON.stringify({ data: { counter: { count: value } } })

export const subscribers: Benchmark = async () => {
  const service = await startService('publisher.ts', { GQL_WS_MAX_PER_ADDRESS: '100000', GQL_WS_PORT: '0' })
  const bare = await startServer('broadcast.ts')
  const readers: Readers[] = []
  try {
    const ours = await open(service, subscription)
    const theirs = await open(bare, undefined)
    readers.push(ours.readers, theirs.readers)
    const publish = (value: number) =>
      post(`${service.url}/graphql`, JSON.stringify({ query: `mutation { publish(count: ${value}) }` }))
    const broadcast = (value: number) => post(bare.url, textOf(value))
    const measure = async () => ({
      ours: await deliver(ours.readers, publish),
      bare: await deliver(theirs.readers, broadcast),
    })
    await measure()
    const measured: { ours: number; bare: number }[] = []
    for (let round = 0; round < rounds; round++) measured.push(await measure())
    const rate = (name: 'ours' | 'bare') => perSecond(median(measured.map((round) => round[name])))
    return [
      atLeast(`values to ${count.toLocaleString('en')} subscribers, of a bare ws broadcast of the same bytes`, 0.6, {
        ratios: measured.map((round) => round.ours / round.bare),
        note: `${rate('ours')} of ${rate('bare')}`,
      }),
      atMost('memory of an idle subscriber, times that of an idle bare ws socket', 3, {
        ratios: [ours.bytesEach / theirs.bytesEach],
        note: `${kilobytes(ours.bytesEach)} and ${kilobytes(theirs.bytesEach)}`,
      }),
    ]
  } finally {
    for (const each of readers) each.close()
    await service.stop()
    await bare.stop()
  }
}

/** Opens them all, and tells what each has added to the server's memory. */
async function open(server: BenchServer, message: string | undefined) {
  const before = memoryOf(server)
  const readers = await openReaders(server.url, count, message)
  // What was needed only to open them is given back.
  await sleep(2000)
  return { readers, bytesEach: (memoryOf(server) - before) / count }
}

/** Deliveries per second, each value having reached everybody before the next one is published. */
async function deliver(readers: Readers, publish: (value: number) => Promise<void>): Promise<number> {
  const start = performance.now()
  for (let value = 1000; value < 1000 + values; value++) {
    const arrived = readers.expect(frameBytes(textOf(value)))
    await publish(value)
    await arrived
  }
  return (values * count) / ((performance.now() - start) / 1000)
}

async function post(url: string, body: string): Promise<void> {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const text = await answer.text()
  if (answer.status !== 200 || text.includes('"errors"')) throw new Error(`${url}: ${answer.status} ${text}`)
}

function memoryOf({ pid }: BenchServer): number {
  const [, kilo = '0'] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilo) * 1024
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} kB`
}
