/** Measures availability, latency and memory for other clients while one address attacks at full rate. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { atMost, type Benchmark, median, type Result } from '../support/benchmark.ts'
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

export const hostile: Benchmark = async () => {
  const results: Result[] = []
  for (const name of Object.keys(attacks) as AttackName[]) {
    process.stderr.write(`\r\u001b[K  ${name}`)
    results.push(await underAttack(name))
  }
  process.stderr.write('\r\u001b[K')
  return [...results, await loginsBesideAnAttack()]
}

/** A new service for each attack, so that one does not affect the next. */
async function underAttack(name: AttackName): Promise<Result> {
  const started = await start()
  const { service, target, other, close } = started
  try {
    await prepare(name, started)
    const quiet = await pingLiveness(other)
    const memoryBefore = peakMemory(service)
    const stop = startAttack(name, target)
    const during = await pingLiveness(other)
    await stop()
    const waits = `longest wait ${longest(during)}, quiet ${longest(quiet)}; median ${percentile(during.times, 0.5).toFixed(1)} ms`
    const memory = `memory at most ${peakMemory(service)} MB, before ${memoryBefore} MB`
    return {
      claim: `${name}: /health/live every ${everyMs} ms always gets a response`,
      measured: `${during.responded} of ${during.sent}; ${waits}; ${memory}`,
      isMet: during.responded === during.sent,
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

async function start(): Promise<Started> {
  const service = await startService('service.ts', rates, { isPinned: false })
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
function pingLiveness(send: Send): Promise<Pings> {
  return firstInLine(async () => {
    const sent = (seconds * 1000) / everyMs
    const start = performance.now()
    const responses: Promise<number | undefined>[] = []
    for (let i = 0; i < sent; i++) {
      const wait = start + i * everyMs - performance.now()
      if (wait > 1) await sleep(wait)
      responses.push(
        send('GET', '/health/live').then(
          ({ status, ms }) => (status === 200 ? ms : undefined),
          () => undefined,
        ),
      )
    }
    const times = (await Promise.all(responses)).filter((ms) => ms !== undefined)
    return { sent, responded: times.length, times }
  })
}

function longest({ times }: Pings): string {
  return `${Math.max(...times).toFixed(1)} ms`
}

/** Peak memory of the process and its threads since the start, in megabytes. */
function peakMemory({ pid }: BenchServer): number {
  const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(kilobytes) / 1024)
}
