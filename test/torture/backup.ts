/**
 * A scheduled backup and its proof beside a load of writes, on either engine: the p99 of writes, quiet and beside, each
 * measured in the same run. Arguments are the number of products, seconds of quiet, and a SQLite file to begin with
 * instead of made-up products: npm run torture backup 10000 5
 */
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../../src/config/root.ts'
import { startService, type TestService } from '../../src/testing/start-service.ts'
import { startPostgres } from '../support/servers.ts'
import type { Torture } from './main.ts'

const writers = 4
const pauseMs = 20

export const torture: Torture = async ({ folder, args }) => {
  const [products = '1000000', quietSeconds = '20', given] = args
  const sqlite = `file:${join(folder, 'latchkey.db')}`
  if (given === undefined) run(sqlite, 'products:seed', '--count', products, '--quiet')
  else run(`file:${resolve(given)}`, 'move', '--to', sqlite, '--quiet')
  const postgres = await startPostgres(folder, { fsync: 'on', full_page_writes: 'on' })
  run(sqlite, 'move', '--to', postgres, '--quiet')
  for (const [name, url] of Object.entries({ sqlite, postgres })) {
    const { quiet, beside, seconds, walBytes } = await measure(url, join(folder, name), Number(quietSeconds))
    const wal = walBytes === undefined ? '' : `; -wal up to ${Math.round(walBytes / 1e6)} MB`
    process.stdout.write(
      `${name}: p99 of writes ${quiet.p99.toFixed(1)} ms quiet, ${beside.p99.toFixed(1)} ms beside a backup of ` +
        `${seconds.toFixed(1)} s and its proof: ${(beside.p99 / quiet.p99).toFixed(2)} times; ` +
        `p50 ${quiet.p50.toFixed(1)} and ${beside.p50.toFixed(1)} ms; longest ${quiet.max.toFixed(0)} and ` +
        `${beside.max.toFixed(0)} ms; ${quiet.count} and ${beside.count} writes${wal}\n`,
    )
    if (beside.p99 > 3 * quiet.p99) throw new Error('the p99 of writes is more than 3 times that of quiet')
  }
}

async function measure(databaseUrl: string, folder: string, quietSeconds: number) {
  const quiet = await withService(databaseUrl, {}, async (service) => {
    await writeFor(service, () => sleep(2000))
    return writeFor(service, () => sleep(quietSeconds * 1000))
  })
  const env = { BACKUP_FOLDER: folder, BACKUP_EVERY: '24h' }
  let walBytes: number | undefined
  let seconds = 0
  const beside = await withService(databaseUrl, env, (service) => {
    const start = performance.now()
    return writeFor(service, async () => {
      while (!/^backup_proved\{backup="last"\} 1$/m.test((await service.get('/metrics')).body)) {
        if (service.log.some((line) => line.includes('backup failed') || line.includes('not be proved'))) {
          throw new Error(service.log.join(''))
        }
        const wal = statSync(`${databaseUrl.slice('file:'.length)}-wal`, { throwIfNoEntry: false })
        if (wal) walBytes = Math.max(walBytes ?? 0, wal.size)
        await sleep(200)
      }
      seconds = (performance.now() - start) / 1000
    })
  })
  return { quiet, beside, walBytes, seconds }
}

async function withService<T>(
  databaseUrl: string,
  environment: Record<string, string>,
  work: (service: TestService) => Promise<T>,
): Promise<T> {
  const service = await startService({ databaseUrl, environment })
  try {
    return await work(service)
  } finally {
    await service.close()
  }
}

/** Creates posts, from several callers, until `until` resolves. */
async function writeFor(service: TestService, until: () => Promise<unknown>) {
  const access = await signIn(service)
  const times: number[] = []
  let isOver = false
  const writing = Array.from({ length: writers }, async () => {
    while (!isOver) {
      const start = performance.now()
      const json = { title: 'A post', body: 'Some words' }
      const { status } = await service.post('/api/posts', json, access)
      if (status !== 201) throw new Error(`a write was answered ${status}`)
      times.push(performance.now() - start)
      await sleep(pauseMs)
    }
  })
  try {
    await Promise.race([until(), Promise.all(writing)])
  } finally {
    isOver = true
  }
  await Promise.all(writing)
  times.sort((a, b) => a - b)
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] as number
  return { p50: at(0.5), p99: at(0.99), max: at(1), count: times.length }
}

let signedIn = 0

async function signIn(service: TestService): Promise<string> {
  signedIn += 1
  const json = { email: `writer${signedIn}-${Date.now()}@example.com`, password: 'Correct-Horse-1', name: 'Writer' }
  await service.post('/api/auth/register', json)
  return (await service.post('/api/auth/login', json)).body.access_token
}

function run(url: string, ...args: string[]): void {
  execFileSync(join(root, 'bin', 'latchkey'), args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: url },
  })
}
