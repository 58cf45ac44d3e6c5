/**
 * Keeps copies from the change log while everything is killed: npm run torture mirror [sqlite|postgres]. Writers create,
 * change, delete and restore; connections are cut, nodes killed, PostgreSQL and Redis restarted. In the end each copy, by REST,
 * server-sent events, @latchkey/client, both protocols of sockets and webhooks, must equal the table, with every entry once (a
 * webhook at least once), and each product's entries in the order of its versions.
 *
 * KILLS (100) is the number of `kill -9` on each engine, WRITERS (8) changes the load, THREADS (2) is passed on. GQL_PUBSUB
 * (redis) is what wakes readers on other nodes. SEED (1) gives another run.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Engine, onEachEngine } from './support/each-engine.ts'
import { findDifferences, findDisorder, readStored } from './support/mirror/check.ts'
import { type Consumer, startConsumers } from './support/mirror/consumers.ts'
import { type Installation, startInstallation } from './support/mirror/installation.ts'
import { startWebhookConsumer } from './support/mirror/webhook-consumer.ts'
import { startWriters, type Writers } from './support/mirror/writers.ts'
import { createRandom } from './support/seeded-random.ts'
import type { ServiceProcess } from './support/service-process.ts'

const kills = Number(process.env.KILLS ?? 100)
const writerCount = Number(process.env.WRITERS ?? 8)
const seed = Number(process.env.SEED ?? 1)
const { GQL_PUBSUB = 'redis' } = process.env
const maxWritingMs = 15_000
const roundsPerRestart = 8
const shareOfBoth = 0.2
const shareStopped = 0.1
const shareWhileStarting = 0.1
/** A node that was killed while it delivered webhooks holds the lease for 15 seconds more. */
const roundsPerQuiet = 6
const maxQuietMs = 40_000
/** A consumer that has not reached the end gets nothing any more if it has got nothing for so long. */
const maxIdleMs = 60_000

export const torture = onEachEngine('mirror', torment)

interface Run extends Installation {
  random(): number
  consumers: readonly Consumer[]
  writers: Writers
  counts: { rounds: number; kills: number; whileStarting: number; stops: number; redis: number; postgres: number }
}

async function torment(engine: Engine, places: { folder: string; kept: string }): Promise<void> {
  const random = createRandom(seed)
  const env = { GQL_PUBSUB, JWT_ACCESS_TTL: '86400', DRAIN_SECONDS: '1', WEBHOOKS_ALLOW_PRIVATE: 'true' }
  const installation = await startInstallation({ engine, ...places, env })
  const { nodes, databaseUrl } = installation
  const pickNode = () => (nodes[Math.floor(random() * nodes.length)] as ServiceProcess).url
  const cursor = (await fetch(`${pickNode()}/api/v2/products`)).headers.get('x-cursor') ?? ''
  const consumers = [
    await startWebhookConsumer({ url: pickNode(), databaseUrl, random, cursor }),
    ...startConsumers({ pickNode, random, cursor }),
  ]
  const writers = await startWriters({ count: writerCount, pickNode, random, databaseUrl })
  const counts = { rounds: 0, kills: 0, whileStarting: 0, stops: 0, redis: 0, postgres: 0 }
  const run: Run = { ...installation, random, consumers, writers, counts }
  while (counts.kills < kills) {
    await playRound(run)
    requireSound(run)
    if (counts.rounds % 5 === 0) process.stderr.write(`  ${engine}: ${shown(run)}\n`)
  }
  await writers.stop()
  await check(run)
  await Promise.all([...consumers.map((consumer) => consumer.stop()), ...nodes.map((node) => node.stop('SIGKILL'))])
  const connections = consumers.map(({ name, connections }) => `${name} ${connections()}`).join(', ')
  process.stdout.write(`${engine}: ${shown(run)}; connections: ${connections}; all copies equal the table\n`)
}

async function playRound(run: Run): Promise<void> {
  const { random, counts, nodes, restartRedis, restartPostgres } = run
  counts.rounds += 1
  await awaitWrites(run, 10 + Math.floor(random() * 100))
  if (counts.rounds % roundsPerQuiet === 0) {
    await awaitConsumers(run, Math.max(...run.consumers.map(countOf)), maxQuietMs)
  }
  const inTurn = counts.rounds % roundsPerRestart
  if (inTurn === 0) {
    counts.redis += 1
    await restartRedis(random() < 0.5 ? 'SIGKILL' : 'SIGTERM')
  } else if (inTurn === roundsPerRestart / 2 && restartPostgres) {
    counts.postgres += 1
    await restartPostgres(random() < 0.5 ? 'SIGKILL' : 'SIGINT')
  }
  const [one, ...others] = random() < 0.5 ? nodes : nodes.toReversed()
  const victims = [one as ServiceProcess, ...(random() < shareOfBoth ? others : [])]
  await Promise.all(victims.map((node) => endAndStart(run, node)))
}

/** On a busy machine, time alone would not be enough for any. */
async function awaitWrites({ writers }: Run, more: number): Promise<void> {
  const count = () => [...writers.counts.values()].reduce((sum, n) => sum + n, 0)
  const before = count()
  const startedAt = performance.now()
  while (count() < before + more && performance.now() - startedAt < maxWritingMs) await sleep(5)
}

async function endAndStart({ random, counts }: Run, node: ServiceProcess): Promise<void> {
  if (random() < shareStopped) {
    await node.stop('SIGTERM')
    counts.stops += 1
  } else {
    await node.stop('SIGKILL')
    counts.kills += 1
  }
  await sleep(random() * 200)
  if (random() < shareWhileStarting) {
    node.launch()
    await sleep(random() * node.startMs())
    await node.stop('SIGKILL')
    counts.kills += 1
    counts.whileStarting += 1
  }
  await node.start()
}

function requireSound({ consumers, writers }: Pick<Run, 'consumers' | 'writers'>): void {
  for (const { name, failure } of consumers) {
    const error = failure()
    if (error) throw new Error(`${name}: ${error.message}`, { cause: error })
  }
  if (writers.surprises.length > 0) throw new Error(writers.surprises.slice(0, 10).join('\n'))
}

const countOf = ({ copy }: Consumer) => copy.received.length

/** Returns after this time without an entry for those who are behind, or if `ms` have passed. */
async function awaitConsumers(run: Run, entries: number, ms = Number.POSITIVE_INFINITY): Promise<void> {
  const startedAt = performance.now()
  let movedAt = startedAt
  let before = 0
  for (;;) {
    requireSound(run)
    const behind = run.consumers.map(countOf).filter((count) => count < entries)
    const sum = behind.reduce((total, count) => total + count, behind.length)
    const now = performance.now()
    if (sum !== before) movedAt = now
    before = sum
    if (behind.length === 0 || now - startedAt > ms || now - movedAt > maxIdleMs) return
    await sleep(50)
  }
}

/** Once the consumers have read to the end. */
async function check(run: Run): Promise<void> {
  const { consumers, writers, databaseUrl } = run
  const stored = await readStored(databaseUrl)
  await awaitConsumers(run, stored.log.length)
  const logged = new Set(stored.log.map(({ product }) => product))
  const wrong = [
    ...findDisorder(stored),
    ...consumers.flatMap(({ name, copy }) => findDifferences(copy, stored).map((each) => `${name}: ${each}`)),
    ...(['create', 'update', 'delete', 'restore'] as const)
      .filter((kind) => !writers.counts.has(kind))
      .map((kind) => `no ${kind} was acknowledged`),
    ...[...writers.created]
      .filter((id) => !logged.has(id))
      .map((id) => `product ${id} was acknowledged, and is not in the log`),
  ]
  if (wrong.length > 0) throw new Error(wrong.slice(0, 20).join('\n'))
}

function shown({ counts, writers, consumers }: Run): string {
  const writes = [...writers.counts].map(([kind, n]) => `${kind} ${n}`).join(', ')
  const entries = Math.max(...consumers.map(({ copy }) => copy.received.length))
  const { kills: killed, whileStarting, stops, redis, postgres } = counts
  return (
    `${killed} kills (${whileStarting} while starting), ${stops} stops, restarts of Redis ${redis}, of PostgreSQL ${postgres}; ` +
    `acknowledged: ${writes}; ${entries} entries`
  )
}
