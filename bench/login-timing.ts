/** Checks that the response time of a login does not reveal whether an email, or a device, is known. */
import { type Benchmark, median } from './support/benchmark.ts'
import { createClient, type Send } from './support/http.ts'
import { startService } from './support/service.ts'

const rounds = 30
const limit = 1.1

export const loginTiming: Benchmark = async () => {
  const service = await startService('service.ts', { LOCKOUT_ATTEMPTS: '1000', RATE_LIMIT_LOGIN: '100000/60' })
  const client = createClient(service.url, { connections: 1 })
  try {
    const email = 'known@example.com'
    const own = await newDevice(client.send, email)
    const others = await newDevice(client.send, 'other@example.com')
    const known = { email, password: 'Wrong-Horse-1' }
    const unknown = { email: 'unknown@example.com', password: 'Wrong-Horse-1' }
    const attempts = {
      known: { json: known },
      unknown: { json: unknown },
      empty: { json: { email, password: '' } },
      'known, own device': { json: known, deviceToken: own },
      "known, another's device": { json: known, deviceToken: others },
      'unknown, a device': { json: unknown, deviceToken: own },
    }
    const times: Record<string, number[]> = Object.fromEntries(Object.keys(attempts).map((name) => [name, []]))
    const bodies = new Set<string>()
    for (let i = -3; i < rounds; i++) {
      for (const [name, options] of Object.entries(attempts)) {
        const { body, ms } = await client.send('POST', '/api/auth/login', options)
        bodies.add(body)
        if (i >= 0) times[name]?.push(ms)
      }
    }
    const medians = Object.entries(times).map(([name, all]) => ({ name, ms: median(all) }))
    const all = medians.map(({ ms }) => ms)
    const ratio = Math.max(...all) / Math.min(...all)
    return [
      {
        claim: `slowest of known email, unknown email and empty password, with and without a device token, relative to the fastest (at most ${limit}), same bodies`,
        measured: `${ratio.toFixed(3)}; medians of ${rounds} rounds: ${medians.map(({ name, ms }) => `${name} ${ms.toFixed(1)} ms`).join(', ')}; ${bodies.size} body`,
        isMet: ratio <= limit && bodies.size === 1,
      },
    ]
  } finally {
    client.close()
    await service.stop()
  }
}

/** The token of a device that has completed a login of a new account. */
async function newDevice(send: Send, email: string): Promise<string | undefined> {
  const json = { email, password: 'Correct-Horse-1' }
  await send('POST', '/api/auth/register', { json })
  const { headers } = await send('POST', '/api/auth/login', { json })
  return headers['x-device-token']?.toString()
}
