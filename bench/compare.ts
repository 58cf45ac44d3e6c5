/** Compares the working tree with another version of itself, in one run. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { root } from '../src/config/root.ts'
import { median, perSecond, printTitle } from './support/benchmark.ts'
import { type BenchServer, measureLoad } from './support/load.ts'
import { person, signIn } from './support/people.ts'
import { script } from './support/post.ts'
import { checkOut, cpuSecondsOf, findCommit, startVersion, UsageError } from './support/versions.ts'

const target = 0.95

export const usage = `npm run bench -- compare <commit> [--starts <number>] [--rounds <number>] [--seconds <number>]

Measures the working tree and the version of a commit, a branch or a tag in turn: a product by id, the listing, posts by
GraphQL, durable creates and logins. The other version is checked out into a temporary folder, with its own dependencies, and is
started by its own "bin/latchkey start", several times: two processes of one version differ by up to a fifth for as long as they
run. Exits with 1 where the working tree has less than ${target} of the other's rate.

  --starts    of both (3)
  --rounds    of both after each start, each in the reverse order of the one before (4)
  --seconds   that each measurement takes (2)
`

const products = 1000
const posts = 20
const connections = 64
const product = JSON.stringify({ name: 'Desk Lamp', description: 'Bright and warm', price: 19.99, stock: 3 })
const json = { 'content-type': 'application/json' }

interface Version {
  server: BenchServer
  token: string
}

type Side = 'before' | 'now'
type Versions = Record<Side, Version>

interface Measured {
  rate: number
  /** Processor seconds per request. */
  cpu: number
}

type Round = Record<Side, Measured>

interface Question {
  name: string
  path: string
  /** Sent by POST, if there is one. */
  body?: string
  needsToken?: boolean
  /** Each response differs. */
  isNew?: boolean
}

const questions: Question[] = [
  { name: 'by id', path: '/api/v2/products/500' },
  { name: 'listing', path: '/api/v2/products' },
  {
    name: 'GraphQL posts',
    path: '/graphql',
    body: JSON.stringify({ query: '{ posts(limit: 20) { id title body } }' }),
  },
  { name: 'durable creates', path: '/api/v2/products', body: product, needsToken: true },
  { name: 'logins', path: '/api/auth/login', body: JSON.stringify(person), isNew: true },
]

/** Returns the exit code. */
export async function compare(args: string[]): Promise<number> {
  const { ref, ...counts } = readArguments(args)
  const commit = findCommit(ref)
  const { signal, release } = onInterrupt()
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  try {
    printTitle(`compare: the working tree, of ${commit}`)
    const other = join(folder, 'before')
    mkdirSync(other)
    await checkOut(commit, other, signal)
    const all = new Map<Question, Round[]>(questions.map((question) => [question, []]))
    for (let i = 0; i < counts.starts; i++) {
      const data = join(folder, `data-${i}`)
      mkdirSync(data)
      await withVersions({ other, data, signal }, async (versions) => {
        if (i === 0) await tellDifferences(versions)
        for (const [question, rounds] of all) {
          process.stderr.write(`\r\u001b[K  start ${i + 1} of ${counts.starts}: ${question.name} `)
          rounds.push(...(await measureRounds(versions, question, { ...counts, signal })))
        }
      })
    }
    process.stderr.write('\r\u001b[K')
    process.stdout.write(`  ${headings.map((heading, i) => heading.padEnd(widths[i] ?? 0)).join('')}\n`)
    const met = [...all].map(([{ name }, rounds]) => printRow(name, rounds))
    return met.includes(false) ? 1 : 0
  } catch (error) {
    if (signal.aborted) return 130
    throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
    release()
  }
}

interface Places {
  /** Where the other version is. */
  other: string
  /** For the databases. */
  data: string
  signal: AbortSignal
}

async function withVersions({ other, data, signal }: Places, run: (versions: Versions) => Promise<void>) {
  const servers: BenchServer[] = []
  const start = async (place: string, name: string): Promise<Version> => {
    const databaseUrl = `file:${join(data, `${name}.db`)}`
    const server = await startVersion({ place, databaseUrl, env: { THREADS: '1' }, signal })
    servers.push(server)
    const token = await signIn(server.url)
    await fill(server.url, token)
    return { server, token }
  }
  try {
    await run({ before: await start(other, 'before'), now: await start(root, 'now') })
  } finally {
    for (const server of servers) await server.stop()
  }
}

interface Counts {
  starts: number
  rounds: number
  seconds: number
}

function readArguments(args: string[]): { ref: string } & Counts {
  const options = {
    starts: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '2' },
  } as const
  const { values, positionals } = parse(() => parseArgs({ args, options, allowPositionals: true }))
  const [ref] = positionals
  if (ref === undefined || positionals.length > 1) throw new UsageError(`which commit?\n\n${usage}`)
  const numberOf = (name: keyof Counts) => {
    const number = Number(values[name])
    if (!Number.isInteger(number) || number < 1) throw new UsageError(`--${name} is a whole number from 1 on`)
    return number
  }
  return { ref, starts: numberOf('starts'), rounds: numberOf('rounds'), seconds: numberOf('seconds') }
}

function parse<Parsed>(read: () => Parsed): Parsed {
  try {
    return read()
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** SIGINT, SIGTERM and SIGHUP abort the run; the temporary folder is still removed. */
function onInterrupt(): { signal: AbortSignal; release(): void } {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of names) process.on(name, abort)
  return {
    signal: controller.signal,
    release: () => names.forEach((name) => void process.off(name, abort)),
  }
}

/** Uses the API, which is the same for all versions. */
async function fill(url: string, token: string): Promise<void> {
  const headers = { ...json, authorization: `Bearer ${token}` }
  const send = async (path: string, body: string) => {
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body })
    const text = await response.text()
    if (!response.ok || text.includes('"errors"')) throw new Error(`${path} returned ${response.status}: ${text}`)
  }
  for (let i = 0; i < products; i += connections) {
    await Promise.all(Array.from({ length: connections }, () => send('/api/v2/products', product)))
  }
  for (let i = 1; i <= posts; i++) {
    const query = `mutation { createPost(title: "Post ${i}", body: "What there is to say about number ${i}.") }`
    await send('/graphql', JSON.stringify({ query }))
  }
}

/** Reports responses of different length, which explain different rates. */
async function tellDifferences(versions: Versions): Promise<void> {
  for (const { name, path, body, needsToken, isNew } of questions) {
    if (needsToken || isNew) continue
    const lengthAt = async ({ server }: Version) => {
      const response = await fetch(
        `${server.url}${path}`,
        body === undefined ? {} : { method: 'POST', headers: json, body },
      )
      if (!response.ok) throw new Error(`${path} returned ${response.status}`)
      return (await response.arrayBuffer()).byteLength
    }
    const [before, now] = [await lengthAt(versions.before), await lengthAt(versions.now)]
    if (before !== now) process.stdout.write(`  ${name}: ${now} bytes, ${before} before\n`)
  }
}

async function measureRounds(
  versions: Versions,
  question: Question,
  { rounds, seconds, signal }: Counts & { signal: AbortSignal },
): Promise<Round[]> {
  const ask = async (side: Side, duration: number) => {
    const measured = measure(versions[side], question, duration)
    // measureLoad blocks this process, so signals arrive only now.
    await turn()
    signal.throwIfAborted()
    return measured
  }
  for (const side of ['before', 'now'] as const) await ask(side, 4)
  const all: Round[] = []
  for (let i = 0; i < rounds; i++) {
    const order: Side[] = i % 2 === 0 ? ['before', 'now'] : ['now', 'before']
    const round: Partial<Round> = {}
    for (const side of order) round[side] = await ask(side, seconds)
    all.push(round as Round)
  }
  return all
}

function measure({ server, token }: Version, { path, body, needsToken }: Question, seconds: number): Measured {
  const spent = cpuSecondsOf(server)
  const post = body === undefined ? {} : { script, env: { BODY: body, ...(needsToken && { TOKEN: token }) } }
  const { rate, requests } = measureLoad(`${server.url}${path}`, { connections, seconds, ...post })
  return { rate, cpu: (cpuSecondsOf(server) - spent) / requests }
}

const headings = ['', 'before', 'now', 'ratio', 'of the rounds', 'processor time for a request']
const widths = [24, 12, 12, 8, 15]

/** Returns whether the target is met. */
function printRow(name: string, rounds: Round[]): boolean {
  const rate = (side: Side) => perSecond(median(rounds.map((round) => round[side].rate)))
  const ratios = rounds.map(({ before, now }) => now.rate / before.rate)
  const ratio = median(ratios)
  const isMet = ratio >= target
  const cells = [
    `${isMet ? 'met   ' : 'MISSED'} ${name}`,
    rate('before'),
    rate('now'),
    ratio.toFixed(3),
    `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
    `${median(rounds.map(({ before, now }) => now.cpu / before.cpu)).toFixed(3)} of before`,
  ]
  process.stdout.write(`  ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('')}\n`)
  return isMet
}
