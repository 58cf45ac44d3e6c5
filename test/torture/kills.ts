/**
 * Kills the service with `kill -9` under load, again and again: npm run torture kills [sqlite|postgres]. After each start,
 * everything that was acknowledged must be there, and nothing by halves.
 *
 * KILLS (1000) is the number of rounds on each engine, WORKERS (4) changes the load, THREADS (2) is passed on. For a run in
 * parts, give each part a SEED (1) of its own.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runOnServer } from '../../src/testing/databases.ts'
import { freePort, type Started, startPostgresProcess } from '../support/servers.ts'
import { type Engine, onEachEngine } from './support/each-engine.ts'
import { type Caller, createCaller, NotAnswered, type WriteKind } from './support/kills/caller.ts'
import { createWorld, type World } from './support/kills/world.ts'
import type { Writer } from './support/kills/writer.ts'
import { restartServer } from './support/restart-server.ts'
import { createRandom } from './support/seeded-random.ts'
import { createServiceProcess, type ServiceProcess, serviceEnvironment } from './support/service-process.ts'

const kills = Number(process.env.KILLS ?? 1000)
const workers = Number(process.env.WORKERS ?? 4)
const seed = Number(process.env.SEED ?? 1)
/** The databases stay small, so that all of their rows are compared in each round. */
const roundsPerDatabase = 100
const roundsPerThoroughCheck = 10
const roundsPerServerKill = 50
/** Of all kills, those during the start. */
const shareWhileStarting = 0.1

export const torture = onEachEngine('kills', torment)

interface Run {
  engine: Engine
  folder: string
  kept: string
  random: () => number
  /** Undefined on SQLite. */
  server: Started | undefined
  acknowledged: Map<WriteKind, number>
  counts: { rounds: number; kills: number; whileStarting: number; serverKills: number }
}

async function torment(engine: Engine, { folder, kept }: { folder: string; kept: string }): Promise<void> {
  const server =
    engine === 'postgres' ? await startPostgresProcess(folder, { fsync: 'on', full_page_writes: 'on' }) : undefined
  const counts = { rounds: 0, kills: 0, whileStarting: 0, serverKills: 0 }
  const run: Run = { engine, folder, kept, random: createRandom(seed), server, acknowledged: new Map(), counts }
  const startedAt = performance.now()
  while (counts.kills < kills) await useDatabase(run)
  const seconds = (performance.now() - startedAt) / 1000
  const kinds = [...run.acknowledged].map(([kind, n]) => `${kind} ${n}`).join(', ')
  say(
    `${engine}: ${shown(run)}; ${kinds}; nothing lost, nothing by halves; ${(seconds / counts.rounds).toFixed(2)} s a round`,
  )
}

/** One database for a number of rounds. */
async function useDatabase(run: Run): Promise<void> {
  const { counts, random } = run
  const databaseUrl = await createDatabase(run)
  const PORT = String(await freePort())
  const env = { ...serviceEnvironment({ threads: 2 }), PORT, DATABASE_URL: databaseUrl, ...settings }
  const service = createServiceProcess({
    name: run.engine,
    env,
    folder: run.folder,
    log: join(run.kept, 'service.log'),
  })
  const caller = createCaller(service.url, run.acknowledged)
  await service.start()
  const world = await createWorld({ caller, databaseUrl, workers, random })
  for (let round = 1; round <= roundsPerDatabase && counts.kills < kills; round++) {
    await playRound(run, { service, caller, world })
    if (counts.rounds % roundsPerThoroughCheck === 0) say(`  ${shown(run)}`)
  }
  await startAgain(run, { service, caller })
  await world.check({ isThorough: true })
  // What was acknowledged last can be used.
  await Promise.all(world.writers.map(({ write }) => write()))
  await world.check({ isThorough: true })
  await service.stop('SIGKILL')
  if (run.server)
    await runOnServer(run.server.url, `DROP DATABASE ${new URL(databaseUrl).pathname.slice(1)} WITH (FORCE)`)
}

/** Tokens from the beginning are used to the end. */
const settings = { DEFAULT_ROLES: 'viewer', JWT_ACCESS_TTL: '86400' }

async function createDatabase({ kept, server, counts }: Run): Promise<string> {
  const name = `kills_${counts.rounds}`
  if (!server) return `file:${join(kept, `${name}.db`)}`
  await runOnServer(server.url, `CREATE DATABASE ${name}`)
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return url.href
}

interface Played {
  service: ServiceProcess
  caller: Caller
  world: World
}

async function playRound(run: Run, { service, caller, world }: Played): Promise<void> {
  const { counts, random, server } = run
  counts.rounds += 1
  await startAgain(run, { service, caller })
  await world.check({ isThorough: counts.rounds % roundsPerThoroughCheck === 0 })
  const load = startLoad(world.writers)
  await sleep(50 + random() * 350)
  if (server && counts.rounds % roundsPerServerKill === 0) {
    // The service goes on, and must find the server again.
    await restartServer(server, run.folder, 'SIGKILL')
    counts.serverKills += 1
    await load.stop()
    await service.ready()
    await world.check({ isThorough: true })
  }
  await service.stop('SIGKILL')
  counts.kills += 1
  await load.stop()
}

/** The process may be running already. Some starts are killed too. */
async function startAgain(
  { counts, random }: Run,
  { service, caller }: Pick<Played, 'service' | 'caller'>,
): Promise<void> {
  if (service.isRunning()) return
  if (random() < shareWhileStarting) {
    service.launch()
    await sleep(random() * service.startMs())
    await service.stop('SIGKILL')
    counts.kills += 1
    counts.whileStarting += 1
  }
  await service.start()
  caller.reconnect()
}

/** Each writes until the end, whatever it is answered. */
function startLoad(writers: readonly Writer[]): { stop(): Promise<void> } {
  let isOver = false
  const running = Promise.all(
    writers.map(async ({ write, settle }) => {
      while (!isOver) {
        try {
          await settle()
          await write()
        } catch (error) {
          if (!(error instanceof NotAnswered)) throw error
          await sleep(5)
        }
      }
    }),
  )
  // It is looked at when the load is stopped.
  running.catch(() => {})
  return {
    async stop() {
      isOver = true
      await running
    },
  }
}

function shown({ engine, counts, acknowledged }: Run): string {
  const { rounds, whileStarting, serverKills } = counts
  const writes = [...acknowledged.values()].reduce((sum, n) => sum + n, 0)
  const server = engine === 'postgres' ? `, PostgreSQL killed ${serverKills} times` : ''
  return `${rounds} rounds, ${writes} writes acknowledged, ${counts.kills} kills (${whileStarting} while starting)${server}`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
