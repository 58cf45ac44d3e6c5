/** Jobs of features: when they run, where, and what is seen of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exitCodes } from '../../src/core/fatal-error.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { defineFeature } from '../../src/platform/feature.ts'
import type { Job, JobContext } from '../../src/platform/jobs/jobs.ts'
import { type Api, startApi } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine, onPostgres, onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { startApiWithRoles } from '../support/roles.ts'

type Run = (context: JobContext<unknown>) => unknown

const withJobs = (jobs: Readonly<Record<string, Job>>) =>
  defineFeature({ name: 'helpdesk', create: () => 'the service', jobs })

const hourly = (run: Run) => withJobs({ 'close-stale': { every: '1h', run } })

function restart(api: Api, engine: Dialect, run: Run): [engine: Dialect, options: Parameters<typeof startApi>[1]] {
  return [engine, { engine, extensions: [hourly(run)], env: { DATABASE_URL: api.databaseUrl } }]
}

async function seriesOf(api: Api): Promise<string[]> {
  const page: string = (await api.get('/metrics')).body
  return page.split('\n').filter((line) => line.startsWith('job_') && line.includes('{name="close-stale"}'))
}

/** Until its node has noted that the job is there. */
async function isKnown(
  api: Awaited<ReturnType<typeof startApiWithRoles>>,
  due: (dueAt: number) => boolean = () => true,
) {
  return eventually(async () => {
    const row = await api.db.get<{ due_at: number }>('SELECT due_at FROM jobs WHERE name = $1', ['close-stale'])
    assert.ok(row && due(row.due_at))
    return row.due_at
  })
}

onRacingEngine('a job', (engine) => {
  test('runs whenever its time has come, with the service of its feature', async (t) => {
    const given: JobContext<unknown>[] = []
    const api = await startApiWithRoles(t, { engine, extensions: [hourly((context) => given.push(context))] })
    const dueAt = await isKnown(api)
    assert.ok(dueAt > api.clock.nowSeconds() + 3500)
    api.clock.advance(3601)
    await eventually(() => assert.equal(given.length, 1))
    const [{ service, infrastructure, signal }] = given as [JobContext<unknown>]
    assert.equal(service, 'the service')
    assert.equal(infrastructure.db.dialect, engine)
    assert.equal(signal.aborted, false)
    const next = await isKnown(api, (due) => due > api.clock.nowSeconds())
    assert.ok(next <= api.clock.nowSeconds() + 3600)
    api.clock.advance(3601)
    await eventually(() => assert.equal(given.length, 2))
    await eventually(async () => assert.ok((await seriesOf(api)).includes('job_runs_total{name="close-stale"} 2')))
  })

  test('whose time came while no node ran is done once at the next start', async (t) => {
    let runs = 0
    const count = () => {
      runs += 1
    }
    const first = await startApiWithRoles(t, { engine, extensions: [hourly(count)] })
    await isKnown(first)
    await first.app.close()
    const again = await startApiWithRoles(t, restart(first, engine, count)[1] ?? {})
    again.clock.advance(10 * 3600)
    await eventually(() => assert.equal(runs, 1))
    await isKnown(again, (due) => due > again.clock.nowSeconds())
    assert.equal(runs, 1)
  })

  test('that a stop interrupts is done again at the next start', async (t) => {
    const { promise: began, resolve: begin } = Promise.withResolvers<void>()
    const first = await startApiWithRoles(t, {
      engine,
      extensions: [
        hourly(async ({ signal }) => {
          begin()
          await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        }),
      ],
    })
    await isKnown(first)
    first.clock.advance(3601)
    await began
    await first.app.close()
    let runs = 0
    const again = await startApi(t, {
      engine,
      extensions: [hourly(() => (runs += 1))],
      env: { DATABASE_URL: first.databaseUrl },
    })
    again.clock.advance(3601)
    await eventually(() => assert.equal(runs, 1))
  })
})

onAnyEngine('a job', (engine) => {
  test('that fails is tried again sooner, says so, and counts as well once it succeeds', async (t) => {
    let failures = 2
    const api = await startApiWithRoles(t, {
      engine,
      extensions: [
        hourly(() => {
          if (failures-- > 0) throw new Error('the archive is full')
        }),
      ],
    })
    await isKnown(api)
    api.clock.advance(3601)
    const failed = () => api.db.get<{ error: string; failures: number }>('SELECT error, failures FROM jobs')
    await eventually(async () => assert.deepEqual(await failed(), { error: 'the archive is full', failures: 1 }))
    api.clock.advance(61)
    await eventually(async () => assert.deepEqual(await failed(), { error: 'the archive is full', failures: 2 }))
    api.clock.advance(61)
    await isKnown(api, (due) => due > api.clock.nowSeconds())
    assert.equal(failures, 0)
    api.clock.advance(61)
    await eventually(async () => assert.deepEqual(await failed(), { error: null, failures: 0 }))
    const series = await seriesOf(api)
    assert.ok(series.includes('job_failures_total{name="close-stale"} 2'))
    assert.ok(
      series.some((line) => /^job_last_success_seconds\S+ \d{10}$/.test(line)),
      series.join('\n'),
    )
    assert.ok(api.log.some((line) => line.includes('a job failed') && line.includes('the archive is full')))
  })

  test('can be asked for by those who may, also while it runs', async (t) => {
    let runs = 0
    let gate = Promise.withResolvers<void>()
    const api = await startApiWithRoles(t, {
      engine,
      extensions: [
        hourly(async () => {
          runs += 1
          await gate.promise
        }),
      ],
    })
    await isKnown(api)
    const browser = openConsole(api)
    const admin = await api.signInAs('admin')
    await browser.signIn(admin.email)
    const page = await browser.open('/console/jobs')
    assert.match(page.text, /close-stale\s+every 1h\s+Never/)
    const asked = await browser.follow(await browser.submit('/console/jobs/close-stale/run'))
    assert.match(asked.text, /The job runs within a second\./)
    await eventually(() => assert.equal(runs, 1))
    await eventually(async () => assert.match((await browser.open('/console/jobs')).text, /Running/))
    await browser.submit('/console/jobs/close-stale/run')
    gate.resolve()
    gate = Promise.withResolvers<void>()
    gate.resolve()
    api.clock.advance(2)
    await eventually(() => assert.equal(runs, 2))
    await eventually(async () => assert.match((await browser.open('/console/jobs')).text, /Succeeded/))
    const { _token = '' } = page.hidden('/console/jobs/close-stale/run')
    assert.equal((await browser.post('/console/jobs/nothing/run', { _token })).status, 404)
    const entries = await api.db.all<{ event: string }>("SELECT event FROM audit WHERE event = 'job_requested'")
    assert.equal(entries.length, 2)

    const other = openConsole(api)
    await other.signIn((await api.signInAs('viewer')).email)
    assert.equal((await other.open('/console/jobs')).status, 403)
  })
})

onPostgres('of several nodes one does a job, and another takes over if that one stands still', async (t) => {
  const running: string[] = []
  const gate = Promise.withResolvers<void>()
  const onNode = (node: string) =>
    hourly(async () => {
      running.push(node)
      await gate.promise
    })
  const one = await startApiWithRoles(t, { engine: 'postgres', extensions: [onNode('one')] })
  const env = { DATABASE_URL: one.databaseUrl }
  const two = await startApiWithRoles(t, { engine: 'postgres', extensions: [onNode('two')], env })
  await isKnown(one)
  for (const node of [one, two]) node.clock.advance(3601)
  await eventually(() => assert.equal(running.length, 1))
  // As if the lease had not been extended for a minute.
  const other = running[0] === 'one' ? two : one
  other.clock.advance(61)
  await eventually(() => assert.equal(running.length, 2))
  assert.deepEqual(running.toSorted(), ['one', 'two'])
  gate.resolve()
})

test('a job with a wrong schedule, or the name of another, stops the start', async (t) => {
  const run = () => {}
  const wrong: [job: object, reason: RegExp][] = [
    [{ run }, /feature helpdesk: the job "close-stale" must have either `at` or `every`/],
    [{ at: '03:00', every: '1h', run }, /must have either `at` or `every`/],
    [{ at: '25:00', run }, /an `at` that is no time of day such as 03:00/],
    [{ every: '10 minutes', run }, /an `every` that is no time such as 30s, 10m, 2h or 1d/],
    [{ every: '0s', run }, /an `every` that is no time/],
    [{ every: '1h' }, /has no function `run`/],
  ]
  for (const [job, reason] of wrong) {
    await assert.rejects(
      startApi(t, { extensions: [withJobs({ 'close-stale': job as Job })] }),
      (error: Error & { exitCode: number }) => {
        assert.match(error.message, reason)
        assert.equal(error.exitCode, exitCodes.configuration)
        return true
      },
    )
  }
  for (const name of ['..', 'Close stale', 'a\0b', '\ud800', 'a'.repeat(61), '<b>']) {
    const jobs = { [name]: { every: '1h', run } as const }
    await assert.rejects(
      startApi(t, { extensions: [withJobs(jobs)] }),
      /has a name that is not made of lower-case words/,
    )
  }
  const twin = defineFeature({ name: 'twin', create: () => ({}), jobs: { 'close-stale': { every: '1h', run } } })
  await assert.rejects(startApi(t, { extensions: [hourly(run), twin] }), /feature twin: .*job close-stale/)
})

test('a daily job is due at its time of day', async (t) => {
  let runs = 0
  const feature = withJobs({ nightly: { at: '03:00', run: () => (runs += 1) } })
  const api = await startApiWithRoles(t, { extensions: [feature] })
  const due = () =>
    eventually(async () => {
      const row = await api.db.get<{ due_at: number }>('SELECT due_at FROM jobs WHERE due_at > $1', [
        api.clock.nowSeconds(),
      ])
      return row?.due_at ?? assert.fail('not yet')
    })
  const first = await due()
  assert.equal(first % 86_400, 3 * 3600)
  assert.ok(first - api.clock.nowSeconds() <= 86_400)
  api.clock.advance(first - api.clock.nowSeconds() + 1)
  await eventually(() => assert.equal(runs, 1))
  assert.equal(await due(), first + 86_400)
})

test('without jobs, the console has no page for them among its entries', async (t) => {
  const api = await startApiWithRoles(t, {})
  const browser = openConsole(api)
  await browser.signIn((await api.signInAs('admin')).email)
  assert.doesNotMatch((await browser.open('/console')).text, /Jobs/)
  assert.match((await browser.open('/console/jobs')).text, /No jobs/)
})
