/** Two serving threads compared with one, on the same two cores as the load and, if there is one, the database server. */
import { root } from '../src/config/root.ts'
import { body } from './product-creates.ts'
import { atLeast, atMost, type Benchmark, inTurn, median, perSecond, type Result } from './support/benchmark.ts'
import { fill } from './support/dataset.ts'
import { type Engine, onEachEngine } from './support/each-engine.ts'
import { type BenchServer, measureLoad } from './support/load.ts'
import { signIn } from './support/people.ts'
import { script } from './support/post.ts'
import { cpuSecondsOf, startVersion } from './support/versions.ts'

const cores = '0-1'
/** Each thread has 128: with fewer, two threads find fewer reads to send to PostgreSQL together than one. */
const connections = 256
const products = 1000
const rounds = 7
const seconds = 3
const warmUpSeconds = 6

interface Measured {
  rate: number
  /** Processor microseconds per request. */
  cpu: number
}

interface Round {
  one: Measured
  two: Measured
}

interface Question {
  name: string
  path: string
  isCreate?: boolean
  /** How many times as many requests as with one thread. */
  target: number
}

const questions: Question[] = [
  { name: 'a product by id', path: '/api/v2/products/500', target: 1.4 },
  { name: 'the listing', path: '/api/v2/products', target: 1.4 },
  { name: 'durable creates', path: '/api/v2/products', isCreate: true, target: 1 },
]
/** The same of the processor time of a request. */
const maxCpu = 1.15

export const threads: Benchmark = () => onEachEngine(measureOn)

async function measureOn({ name: engine, createDatabase }: Engine): Promise<Result[]> {
  const servers: BenchServer[] = []
  const start = async (count: number) => {
    const databaseUrl = await createDatabase()
    await fill(databaseUrl, products)
    const server = await startVersion({ place: root, databaseUrl, cores, env: { THREADS: String(count) } })
    servers.push(server)
    return { server, token: await signIn(server.url) }
  }
  try {
    const sides = { one: await start(1), two: await start(2) }
    return questions.flatMap((question) => {
      const ask = (side: keyof typeof sides, duration = seconds) => measure(sides[side], question, duration)
      ask('one', warmUpSeconds)
      ask('two', warmUpSeconds)
      return judge(engine, question, inTurn(rounds, { one: () => ask('one'), two: () => ask('two') }))
    })
  } finally {
    for (const server of servers) await server.stop()
  }
}

function measure(
  { server, token }: { server: BenchServer; token: string },
  { path, isCreate }: Question,
  duration: number,
): Measured {
  const spent = cpuSecondsOf(server)
  const post = isCreate ? { script, env: { BODY: body, TOKEN: token } } : {}
  const { rate, requests } = measureLoad(`${server.url}${path}`, {
    connections,
    seconds: duration,
    cores,
    ...post,
  })
  return { rate, cpu: ((cpuSecondsOf(server) - spent) * 1e6) / requests }
}

function judge(engine: string, { name, target, isCreate }: Question, all: Round[]): Result[] {
  const rate = (side: keyof Round) => perSecond(median(all.map((round) => round[side].rate)))
  const cpu = (side: keyof Round) => `${median(all.map((round) => round[side].cpu)).toFixed(0)} µs`
  const rates = atLeast(`${engine}: ${name} with two threads, times one`, target, {
    ratios: all.map(({ one, two }) => two.rate / one.rate),
    note: `${rate('two')} of ${rate('one')}`,
  })
  if (isCreate) return [rates]
  const cost = atMost(`${engine}: processor time of a request with two threads, of one`, maxCpu, {
    ratios: all.map(({ one, two }) => two.cpu / one.cpu),
    note: `${cpu('two')} of ${cpu('one')}`,
  })
  return [rates, cost]
}
