/** The effect of a storm of logins on other requests, and the throughput of logins compared with plain bcrypt. */
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { hash } from '@node-rs/bcrypt'
import { Piscina } from 'piscina'
import type { Benchmark } from './support/benchmark.ts'
import { createClient, percentile, type Send, steadyReads } from './support/http.ts'
import { startService } from './support/service.ts'

const connections = 32
const readsPerSecond = 200
const seconds = 12
const password = 'Correct-Horse-1'

export const loginStorm: Benchmark = async () => {
  const bare = await bareHashes()
  const service = await startService('service.ts', { RATE_LIMIT_LOGIN: '100000/60' }, { isPinned: false })
  const readers = createClient(service.url, { connections: 50 })
  const stormers = createClient(service.url, { connections })
  try {
    const email = 'storm@example.com'
    await readers.send('POST', '/api/auth/register', { json: { email, password } })
    const login = await readers.send('POST', '/api/auth/login', { json: { email, password } })
    const token: string = JSON.parse(login.body).access_token
    const reads = (forSeconds: number) =>
      steadyReads(readers.send, '/me', { token, perSecond: readsPerSecond, seconds: forSeconds })
    await reads(3)
    const quiet = await reads(seconds)

    const storm = startStorm(stormers.send, email)
    await sleep(2000)
    const before = storm.count()
    const start = performance.now()
    const stormy = await reads(seconds)
    const logins = (storm.count() - before) / ((performance.now() - start) / 1000)
    await storm.stop()

    const [quietP99, stormyP99] = [percentile(quiet, 0.99), percentile(stormy, 0.99)]
    const allowed = Math.max(5 * quietP99, quietP99 + 10)
    return [
      {
        claim: `p99 of ${readsPerSecond} reads a second during a storm of ${connections} logins (at most ${allowed.toFixed(1)} ms: the larger of 5 times quiet and quiet + 10 ms)`,
        measured: `${stormyP99.toFixed(1)} ms, quiet ${quietP99.toFixed(1)} ms; medians ${percentile(stormy, 0.5).toFixed(1)} and ${percentile(quiet, 0.5).toFixed(1)} ms`,
        isMet: stormyP99 <= allowed,
      },
      {
        claim: 'logins, as a fraction of plain bcrypt on as many threads (at least 0.85)',
        measured: `${(logins / bare).toFixed(2)}; ${logins.toFixed(2)}/s of ${bare.toFixed(2)}/s`,
        isMet: logins / bare >= 0.85,
      },
    ]
  } finally {
    readers.close()
    stormers.close()
    await service.stop()
  }
}

/** Hashes per second of plain bcrypt, on as many threads as the service has. */
async function bareHashes(): Promise<number> {
  const threads = availableParallelism()
  const pool = new Piscina({
    filename: new URL('../src/platform/passwords/bcrypt-thread.ts', import.meta.url).href,
    name: 'runTask',
    minThreads: threads,
    maxThreads: threads,
    atomics: 'disabled',
  })
  const task = { kind: 'verify', password, hash: await hash(password, 12), times: 1 }
  await Promise.all(Array.from({ length: threads * 2 }, () => pool.run(task)))
  let count = 0
  const start = performance.now()
  await Promise.all(
    Array.from({ length: threads * 2 }, async () => {
      while (performance.now() - start < seconds * 1000) {
        await pool.run(task)
        count += 1
      }
    }),
  )
  const perSecond = count / ((performance.now() - start) / 1000)
  await pool.destroy()
  return perSecond
}

function startStorm(send: Send, email: string) {
  let isOver = false
  let done = 0
  const all = Promise.all(
    Array.from({ length: connections }, async () => {
      while (!isOver) {
        const { status } = await send('POST', '/api/auth/login', { json: { email, password } })
        if (status !== 200) throw new Error(`a login returned ${status}`)
        done += 1
      }
    }),
  )
  return {
    count: () => done,
    async stop() {
      isOver = true
      await all
    },
  }
}
