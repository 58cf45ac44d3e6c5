/**
 * Fifty tabs share one session of @latchkey/client: npm run torture client. They are threads of ten processes, which are
 * killed at random, and every third answer is lost on the way to them. The clock moves on by an expiry of the access token
 * as soon as every tab has had an answer: ten minutes in ten rounds. Nobody may be signed out, and the service must have
 * refreshed once for each expiry. In the end, a refresh token that was used before is presented: this ends the session.
 *
 * TABS (50), PROCESSES (10), ROUNDS (10) and SEED (1) change it.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLatchkey } from '../../packages/client/src/index.ts'
import type { OnCreated } from '../../src/app/create-app.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { startService } from '../../src/testing/start-service.ts'
import { everyThird, startLossyProxy } from '../support/lossy-proxy.ts'
import { registerProcess } from '../support/run-folder.ts'
import { sqliteStorage } from '../support/sqlite-storage.ts'
import type { Torture } from './main.ts'
import type { TabMessage } from './support/client/tab.ts'
import { createRandom } from './support/seeded-random.ts'

const { TABS = 50, PROCESSES = 10, ROUNDS = 10, SEED = 1 } = process.env
const [tabCount, processCount, rounds] = [Number(TABS), Number(PROCESSES), Number(ROUNDS)]
const accessSeconds = 60
/** Against hangs. */
const maxRoundMs = 300_000
const account = { email: 'tabs@example.com', password: 'Correct-Horse-1' }
const refreshPath = '/api/auth/refresh'

interface TabProcess {
  tabs: number[]
  child: ChildProcess
}

export const torture: Torture = async ({ folder }) => {
  const environment = { JWT_ACCESS_TTL: String(accessSeconds), RATE_LIMIT_REFRESH: '1000000/60' }
  let db: Database | undefined
  const onCreated: OnCreated = (_app, parts) => {
    db = parts.db
  }
  const service = await startService({ environment, onCreated })
  const proxy = await startLossyProxy({ target: service.url, isLost: everyThird })
  const file = join(folder, 'session.db')
  const storage = sqliteStorage(file)
  await service.post('/api/auth/register', account)
  await createLatchkey({ url: service.url, storage }).login(account)
  const tabs = startTabs({ folder, url: proxy.url, file })
  let kills = 0
  try {
    for (let round = 1; round <= rounds; round++) {
      service.clock.advance(accessSeconds)
      kills += await tabs.play(round)
      assert.equal(await countRefreshes(db as Database), round, 'one refresh for each expiry')
      process.stderr.write(`  round ${round}: ${kills} kills, ${proxy.received(refreshPath).length} refreshes sent\n`)
    }
    const stolen = proxy.received(refreshPath).at(-1) ?? ''
    const sent = proxy.received(refreshPath).length
    const theft = await service.post(refreshPath, JSON.parse(stolen))
    assert.equal(theft.status, 401)
    const reasons = await tabs.awaitEnds(rounds + 1)
    // A tab that had no request under way finds nobody signed in.
    const others = reasons.filter((reason) => reason !== 'reuse' && !reason.includes('Missing access token'))
    assert.deepEqual([reasons.includes('reuse'), others], [true, []])
    const lost = proxy.lost(refreshPath) + proxy.lost('/me')
    process.stdout.write(
      `${tabCount} tabs in ${processCount} processes, ${rounds} expiries, ${kills} processes killed, ${lost} answers lost: ` +
        `nobody was signed out; ${rounds} refreshes of ${sent} sent; a stolen token ended the session\n`,
    )
  } finally {
    tabs.close()
    storage.close()
    await proxy.close()
    await service.close()
  }
}

function startTabs(options: { folder: string; url: string; file: string }) {
  const random = createRandom(Number(SEED))
  const answered = new Map<number, number>()
  const ended = new Map<number, string>()
  const perProcess = Math.ceil(tabCount / processCount)
  const processes: TabProcess[] = Array.from({ length: processCount }, (_, p) => {
    const tabs = Array.from({ length: perProcess }, (_each, i) => p * perProcess + i).filter((tab) => tab < tabCount)
    return { tabs, child: start(tabs) }
  })

  function start(tabs: number[]): ChildProcess {
    const { folder, url, file } = options
    const script = join(import.meta.dirname, 'support', 'client', 'tab.ts')
    const child = fork(script, [JSON.stringify({ url, file, tabs })])
    registerProcess(folder, child.pid as number)
    child.on('message', (message: TabMessage) => {
      if ('ended' in message) ended.set(message.tab, message.ended)
      else answered.set(message.tab, message.round)
    })
    return child
  }

  async function kill(victim: TabProcess, round: number): Promise<void> {
    const gone = once(victim.child, 'exit')
    victim.child.kill('SIGKILL')
    await gone
    for (const tab of victim.tabs) answered.delete(tab)
    victim.child = start(victim.tabs)
    victim.child.send(round)
  }

  const all = processes.flatMap(({ tabs }) => tabs)

  return {
    /** Until every tab has had an answer. Returns how many processes were killed meanwhile. */
    async play(round: number): Promise<number> {
      const startedAt = performance.now()
      let kills = 0
      for (const { child } of processes) child.send(round)
      while (all.some((tab) => answered.get(tab) !== round)) {
        if (ended.size > 0) throw new Error(`signed out: ${[...ended.values()].slice(0, 5).join(', ')}`)
        if (performance.now() - startedAt > maxRoundMs) throw new Error(`round ${round} does not end`)
        await sleep(random() * 1000)
        // Not for ever, because a process needs time to start.
        if (kills < processCount && random() < 0.4) {
          await kill(processes[Math.floor(random() * processes.length)] as TabProcess, round)
          kills += 1
        }
      }
      return kills
    },

    /** What each tab says of the end of the session. */
    async awaitEnds(round: number): Promise<string[]> {
      for (const { child } of processes) child.send(round)
      const startedAt = performance.now()
      while (ended.size < all.length && performance.now() - startedAt < maxRoundMs) await sleep(100)
      assert.equal(ended.size, all.length)
      return [...ended.values()]
    },

    close() {
      for (const { child } of processes) child.kill('SIGKILL')
    },
  }
}

async function countRefreshes(db: Database): Promise<number> {
  const sql = `SELECT count(*) AS n FROM audit WHERE event = 'refresh' AND outcome = 'success'`
  return Number((await db.get<{ n: number }>(sql))?.n)
}
