/**
 * Restarts two nodes behind a proxy, then Redis and PostgreSQL, under mixed load: npm run torture rolling [nginx|haproxy].
 * Prints what became of the requests in each phase, and exits with 1 if something was lost that must not be.
 *
 * SECONDS (60), WORKERS (8) and SOCKETS (20) change the load. Each node is stopped by SIGTERM ROUNDS (1) times, and again
 * until MIN_WRITES (10,000) were made meanwhile: with fewer, one lost write is more than one in 10,000. THREADS (2) and
 * DRAIN_SECONDS are passed on to the nodes.
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { BalancerName } from '../support/load-balancer.ts'
import { type Cluster, startCluster } from './support/cluster.ts'
import { type Counts, type Kind, type Load, type Outcome, startLoad } from './support/mixed-load.ts'

interface Phase {
  name: string
  /** Whether creates and refreshes carry an `Idempotency-Key`, so that the proxy can repeat them. */
  hasKeys?: boolean
  run(cluster: Cluster, load: Load): Promise<void>
  /** How many of these writes may stay without an answer of the service. */
  allows(writes: number): number
}

const seconds = Number(process.env.SECONDS ?? 60)
const workers = Number(process.env.WORKERS ?? 8)
const sockets = Number(process.env.SOCKETS ?? 20)
const rounds = Number(process.env.ROUNDS ?? 1)
const minWrites = Number(process.env.MIN_WRITES ?? 10_000)
/** So that each phase also has load on two nodes that are up. */
const pauseMs = 2000
const maxStopMs = 10_000

const given = process.argv.slice(3) as BalancerName[]
const problems: string[] = []
for (const proxy of given.length > 0 ? given : (['nginx', 'haproxy'] as const)) await torture(proxy)
for (const problem of problems) say(`FAILED: ${problem}`)
if (problems.length === 0) say('nothing was lost that must not be')
process.exit(problems.length === 0 ? 0 : 1)

async function torture(proxy: BalancerName): Promise<void> {
  const logs = join(tmpdir(), `latchkey-rolling-${process.pid}`)
  say(`\n${proxy}: two nodes, ${workers} workers of each kind, ${sockets} sockets; logs in ${logs}`)
  const cluster = await startCluster(proxy, logs)
  const load = await startLoad({ url: cluster.url, workers, sockets })
  const startedAt = performance.now()
  for (const phase of phasesOf(proxy)) {
    const phaseStartedAt = performance.now()
    load.sendKeys(phase.hasKeys ?? false)
    await sleep(pauseMs)
    await phase.run(cluster, load)
    await sleep(pauseMs)
    report(proxy, phase, load.take(), (performance.now() - phaseStartedAt) / 1000)
  }
  await sleep(Math.max(0, seconds * 1000 - (performance.now() - startedAt)))
  report(proxy, { name: 'quiet', allows: none }, load.take(), 0)
  await checkSockets(proxy, load)
  await load.stop()
  for (const surprise of load.surprises) problems.push(`${proxy}: unexpected answer, ${surprise.slice(0, 300)}`)
  say(`  sockets received ${load.received()} values, and were closed with ${shown(load.closes)}`)
  await checkWrites(proxy, cluster, load)
  await cluster.close()
}

/** nginx has no active checks: a POST on an idle connection that is just being closed cannot be repeated safely. */
function phasesOf(proxy: BalancerName): Phase[] {
  const onSigterm = proxy === 'nginx' ? (writes: number) => Math.floor(writes / 10_000) : none
  return [
    { name: 'quiet', run: () => sleep(3000), allows: none },
    { name: 'SIGTERM, one node after the other', run: rollOver, allows: onSigterm },
    { name: 'kill -9, one node after the other', run: killOver, allows: none, hasKeys: true },
    { name: 'kill -9, and writes have no key', run: killOver, allows: inFlight },
    { name: 'Redis restarted', run: (c) => c.restartRedis(), allows: none },
    { name: 'PostgreSQL restarted', run: (c) => c.restartPostgres(), allows: none },
  ]
}

function none(): number {
  return 0
}

/** What a killed node was doing and nobody may repeat: each worker that writes has one request, and there are two nodes. */
function inFlight(): number {
  return 2 * (workers + workers + Math.ceil(workers / 4))
}

async function rollOver(cluster: Cluster, load: Load): Promise<void> {
  for (let round = 1; round <= rounds || writesOf(load.counts()) < minWrites; round++) {
    await restartNodes(cluster, 'SIGTERM')
  }
}

async function killOver(cluster: Cluster): Promise<void> {
  await restartNodes(cluster, 'SIGKILL')
}

function writesOf(counts: Counts): number {
  return [...counts].reduce((sum, [kind, outcomes]) => (isWrite(kind) ? sum + sumOf(outcomes) : sum), 0)
}

function sumOf(outcomes: Map<Outcome, number>): number {
  return [...outcomes.values()].reduce((sum, n) => sum + n, 0)
}

async function restartNodes({ nodes }: Cluster, signal: NodeJS.Signals): Promise<void> {
  for (const node of nodes) {
    const { ms, code } = await node.stop(signal)
    say(`  ${node.name} ended after ${ms} ms with ${code ?? signal}`)
    if (signal === 'SIGTERM' && (code !== 0 || ms > maxStopMs)) problems.push(`${node.name} did not stop in time`)
    await node.start()
    await sleep(pauseMs)
  }
}

function report(proxy: BalancerName, phase: Pick<Phase, 'name' | 'allows'>, counts: Counts, took: number): void {
  say(`  ${phase.name}${took > 0 ? ` (${took.toFixed(1)} s)` : ''}`)
  const writes = { all: 0, lost: 0 }
  for (const [kind, outcomes] of counts) {
    const all = sumOf(outcomes)
    const lost = lostOf(outcomes, proxy)
    say(`    ${kind.padEnd(8)} ${String(all).padStart(7)}: ${shown(outcomes)}`)
    if (isWrite(kind)) {
      writes.all += all
      writes.lost += lost
    } else if (lost > 0 && phase.allows === none) problems.push(`${proxy}, ${phase.name}: ${lost} ${kind} lost`)
  }
  const allowed = phase.allows(writes.all)
  if (writes.lost > 0) say(`    ${writes.lost} of ${writes.all} writes lost; ${allowed} allowed`)
  if (writes.lost > allowed) problems.push(`${proxy}, ${phase.name}: ${writes.lost} of ${writes.all} writes lost`)
}

function isWrite(kind: Kind): boolean {
  return kind === 'create' || kind === 'refresh' || kind === 'sign-in'
}

/** HAProxy's own 503 means that it knows no node, which is a loss too: one of them always serves. */
function lostOf(outcomes: Map<Outcome, number>, proxy: BalancerName): number {
  const lost: Outcome[] = ['answered by the proxy', 'not answered']
  if (proxy === 'haproxy') lost.push('proxy 503')
  return lost.reduce((sum, outcome) => sum + (outcomes.get(outcome) ?? 0), 0)
}

/** All are open again, and hear of every product. */
async function checkSockets(proxy: BalancerName, load: Load): Promise<void> {
  for (let attempt = 0; load.openSockets() < sockets && attempt < 100; attempt++) await sleep(100)
  if (load.openSockets() < sockets) problems.push(`${proxy}: only ${load.openSockets()} of ${sockets} sockets are open`)
  const before = load.received()
  await sleep(1000)
  if (load.received() === before) problems.push(`${proxy}: the sockets hear nothing any more`)
}

async function checkWrites(proxy: BalancerName, { databaseUrl }: Cluster, { acknowledged }: Load): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ id: string; name: string }>('SELECT id, name FROM products')
  await client.end()
  const stored = new Map(rows.map(({ id, name }) => [Number(id), name]))
  const missing = [...acknowledged].filter(([id, name]) => stored.get(id) !== name)
  say(`  ${acknowledged.size} products acknowledged, ${missing.length} of them missing; ${stored.size} stored`)
  if (missing.length > 0) problems.push(`${proxy}: ${missing.length} acknowledged products are missing`)
}

function shown(counts: ReadonlyMap<unknown, number>): string {
  return [...counts].map(([name, n]) => `${n} ${name}`).join(', ')
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
