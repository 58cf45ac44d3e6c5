/**
 * Measures availability, latency and memory for other clients while one address attacks at full rate. ATTACK=uploads runs
 * only the attacks with that word in their names.
 */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../../src/config/root.ts'
import { atMost, type Benchmark, median, type Result } from '../support/benchmark.ts'
import { createSqliteDataset, finds } from '../support/dataset.ts'
import { createClient, percentile, type Send, type Timed } from '../support/http.ts'
import type { BenchServer } from '../support/load.ts'
import { firstInLine } from '../support/priority.ts'
import { startService } from '../support/service.ts'
import { attacks, type Target } from './attacks.ts'

const seconds = 8
const everyMs = 20
/** Attacks come from 127.0.0.1. */
const otherAddress = '127.0.0.2'
const megabyte = 1024 * 1024
/** High enough that the address is limited by fair scheduling, not by a rate limit. */
const rates = {
  RATE_LIMIT_LOGIN: '100000/60',
  RATE_LIMIT_REGISTER: '100000/60',
  RATE_LIMIT_POSTS: '100000/60',
  RATE_LIMIT_POST_BYTES: '100000000/60',
}

type AttackName = keyof typeof attacks
type OtherRequest = (started: Started) => Promise<Timed>

const liveness: OtherRequest = ({ other }) => other('GET', '/health/live')

/** Attacks that may neither delay these requests of others beyond a limit nor take more than a limit of memory. */
const boundedAttacks: Partial<Record<AttackName, OtherRequest>> = {
  'uploads of hostile files by one user': ({ other }) => other('GET', '/api/v2/products?per_page=20'),
  'aborted counts': ({ other }) => other('GET', `/api/v2/products?q=${finds.rare}`),
  'key creation': ({ other }) => other('GET', '/api/v2/products?per_page=20'),
  'dead letters of a listener that always fails': ({ other }) => other('GET', '/api/v2/products?per_page=20'),
}
const failingListener = { LATCHKEY_EXTENSIONS: join(root, 'test/support/extensions/failing-listener.ts') }
/** So many that clients abort before they are counted. */
const countedProducts = 300_000
const maxWait = 8
const maxMegabytes = 100

export const hostile: Benchmark = async () => {
  const { ATTACK: only = '' } = process.env
  const results: Result[] = []
  for (const name of Object.keys(attacks) as AttackName[]) {
    if (!name.includes(only)) continue
    process.stderr.write(`\r\u001b[K  ${name}`)
    results.push(await underAttack(name))
  }
  process.stderr.write('\r\u001b[K')
  return only === '' ? [...results, await loginsBesideAnAttack()] : results
}

/** A new service for each attack, so that one does not affect the next. */
async function underAttack(name: AttackName): Promise<Result> {
  const started = await start(
    name.includes('dead letters') ? failingListener : {},
    name.includes('counts') ? countedProducts : 0,
  )
  const { service, target, close } = started
  const request = boundedAttacks[name]
  const send = () => (request ?? liveness)(started)
  try {
    await prepare(name, started)
    // The first requests of a process compile its code and grow its heap.
    if (request) await sendSteadily(send)
    resetPeakMemory(service)
    let memoryBefore = 0
    const rounds: { quiet: Pings; during: Pings }[] = []
    // One pause of a shared machine decides the longest wait of a round.
    while (rounds.length < (request ? 3 : 1)) {
      const quiet = await sendSteadily(send)
      memoryBefore ||= peakMemory(service)
      const stop = startAttack(name, target)
      rounds.push({ quiet, during: await sendSteadily(send) })
      await stop()
    }
    const memory = peakMemory(service)
    const waits = (of: 'quiet' | 'during') => rounds.map((round) => longest(round[of]).toFixed(1)).join(', ')
    const responded = rounds.map(({ during }) => `${during.responded} of ${during.sent}`).join(', ')
    const medians = percentile(
      rounds.flatMap(({ during }) => during.times),
      0.5,
    ).toFixed(1)
    const measured = `${responded}; longest wait ${waits('during')} ms, quiet ${waits('quiet')} ms; median ${medians} ms; memory at most ${memory} MB, before ${memoryBefore} MB`
    const isServed = rounds.every(({ during }) => during.responded === during.sent)
    if (!request) {
      return { claim: `${name}: /health/live every ${everyMs} ms always gets a response`, measured, isMet: isServed }
    }
    const isPrompt = median(rounds.map(({ quiet, during }) => longest(during) / longest(quiet))) <= maxWait
    return {
      claim: `${name}: nobody else waits longer than ${maxWait} times quiet, median of three rounds, and memory stays within ${maxMegabytes} MB of quiet`,
      measured,
      isMet: isServed && isPrompt && memory - memoryBefore <= maxMegabytes,
    }
  } finally {
    await close()
  }
}

async function loginsBesideAnAttack(): Promise<Result> {
  const { target, other, close } = await start()
  try {
    const logIn = async () => {
      const { email, password } = target
      const { status, ms } = await other('POST', '/api/auth/login', { json: { email: `other-${email}`, password } })
      if (status !== 200) throw new Error(`a login returned ${status}`)
      return ms
    }
    await other('POST', '/api/auth/register', { json: { email: `other-${target.email}`, password: target.password } })
    const times = async (count: number) => {
      const all: number[] = []
      for (let i = 0; i < count; i++) all.push(await logIn())
      return all
    }
    const quiet = median(await times(8))
    const stop = startAttack('100 logins and 100 registrations at once', target)
    await sleep(2000)
    const during = await times(12)
    await stop()
    return atMost(
      "another address's logins, during 100 logins and 100 registrations at once, relative to an idle service",
      8,
      {
        ratios: during.map((ms) => ms / quiet),
        note: `${median(during).toFixed(0)} ms, longest ${Math.max(...during).toFixed(0)} ms, quiet ${quiet.toFixed(0)} ms`,
      },
    )
  } finally {
    await close()
  }
}

interface Started {
  service: BenchServer
  target: Target
  other: Send
  close(): Promise<void>
}

async function start(env: Record<string, string> = {}, products = 0): Promise<Started> {
  const dataset = products > 0 ? await createSqliteDataset(products) : undefined
  const database = dataset && { DATABASE_URL: dataset.url }
  const service = await startService('service.ts', { ...rates, ...env, ...database }, { isPinned: false })
  const { send, close } = createClient(service.url, { connections: 50, localAddress: otherAddress })
  const person = { email: 'bench@example.com', password: 'Correct-Horse-1' }
  await send('POST', '/api/auth/register', { json: person })
  const { body } = await send('POST', '/api/auth/login', { json: person })
  return {
    service,
    target: { url: service.url, ...person, token: JSON.parse(body).access_token },
    other: send,
    async close() {
      close()
      await service.stop()
      dataset?.remove()
    },
  }
}

/** Data that the attack needs, and that any user could have created. */
async function prepare(name: AttackName, { other, target: { token } }: Started): Promise<void> {
  const query = 'mutation ($body: String!) { createPost(title: "Long", body: $body) }'
  const post = { query, variables: { body: 'x'.repeat(65_536) } }
  const product = { name: 'Long', description: 'x'.repeat(megabyte - 1000), price: 1, category: 'long' }
  if (name.includes('posts')) await repeat(64, () => other('POST', '/graphql', { json: post }))
  if (/lists|category/.test(name)) await repeat(270, () => other('POST', '/api/v2/products', { json: product, token }))
}

async function repeat(times: number, send: () => Promise<Timed>): Promise<void> {
  for (let i = 0; i < times; i++) {
    const { status, body } = await send()
    if (status >= 300 || body.includes('"errors"'))
      throw new Error(`the request returned ${status}: ${body.slice(0, 200)}`)
  }
}

function startAttack(name: AttackName, target: Target): () => Promise<void> {
  const script = join(import.meta.dirname, 'attacker.ts')
  const child = spawn(process.execPath, [script, name, JSON.stringify(target)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  // An attacker has a machine of its own, and takes no processor from the service.
  setPriority(child.pid as number, constants.priority.PRIORITY_LOW)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return async () => {
    if (child.exitCode !== null) throw new Error(`the attack "${name}" ended by itself`)
    child.kill('SIGKILL')
    await ended
  }
}

interface Pings {
  sent: number
  responded: number
  times: number[]
}

/** Sends requests at a fixed rate, without waiting for earlier ones. */
function sendSteadily(send: () => Promise<Timed>): Promise<Pings> {
  return firstInLine(async () => {
    const sent = (seconds * 1000) / everyMs
    const start = performance.now()
    const responses: Promise<number | undefined>[] = []
    for (let i = 0; i < sent; i++) {
      const wait = start + i * everyMs - performance.now()
      if (wait > 1) await sleep(wait)
      responses.push(
        send().then(
          ({ status, ms }) => (status < 300 ? ms : undefined),
          () => undefined,
        ),
      )
    }
    const times = (await Promise.all(responses)).filter((ms) => ms !== undefined)
    return { sent, responded: times.length, times }
  })
}

function longest({ times }: Pings): number {
  return Math.max(...times)
}

/** Linux then counts from the present memory. */
function resetPeakMemory({ pid }: BenchServer): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Peak memory of the process and its threads since it was last reset, in megabytes. */
function peakMemory({ pid }: BenchServer): number {
  const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(kilobytes) / 1024)
}
