import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics, type MetricObject } from '../../platform/metrics/metrics.ts'
import type { ServingThread } from './supervised-thread.ts'
import { createThreadMetrics } from './thread-metrics.ts'

/** Answers scrapes like a serving thread, if it answers at all. */
function createThread() {
  const metrics = createMetrics()
  const count = metrics.addCounter({ name: 'things_total', help: 'x' })
  metrics.addGauge({ name: 'open_things', help: 'x', read: () => 1 })
  const series = metrics.requestSeries({ method: 'GET', route: '/', status: '200' })
  let collect: () => Promise<MetricObject[]> = metrics.collect
  return {
    call: (() => collect()) as unknown as ServingThread['call'],
    isLate: () => false,
    work(times: number) {
      for (let i = 0; i < times; i++) {
        count()
        series.observe(0.002)
      }
    },
    answerWith(next: () => Promise<MetricObject[]>) {
      collect = next
    },
    metrics,
  }
}

function createScrapes(running: { list: ReturnType<typeof createThread>[] }, timeoutMs = 60_000) {
  const all = createThreadMetrics({ threads: { running: () => running.list }, timeoutMs })
  return async () => {
    const page = await (await all.merge()).print()
    const read = (series: string) =>
      Number(
        page
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.split(' ')[1],
      )
    return {
      counter: read('things_total'),
      histogram: read('http_request_duration_seconds_count{method="GET",route="/",status="200"}'),
      gauge: read('open_things'),
    }
  }
}

test('counters and histograms outlive their threads, however many die; gauges do not', async () => {
  const [one, two] = [createThread(), createThread()]
  const running = { list: [one, two] }
  const scrape = createScrapes(running)
  one.work(3)
  two.work(4)
  assert.deepEqual(await scrape(), { counter: 7, histogram: 7, gauge: 2 })
  running.list = [two]
  assert.deepEqual(await scrape(), { counter: 7, histogram: 7, gauge: 1 })
  let expected = 7
  for (let i = 0; i < 5; i++) {
    const next = createThread()
    running.list = [two, next]
    next.work(2)
    expected += 2
    assert.deepEqual(await scrape(), { counter: expected, histogram: expected, gauge: 2 })
  }
})

test('a thread that does not answer in time is counted with what it last said, and once', async () => {
  const [one, two] = [createThread(), createThread()]
  const running = { list: [one, two] }
  const scrape = createScrapes(running, 300)
  one.work(3)
  two.work(4)
  await scrape()
  const { promise, resolve } = Promise.withResolvers<MetricObject[]>()
  two.answerWith(() => promise)
  one.work(1)
  assert.deepEqual(await scrape(), { counter: 8, histogram: 8, gauge: 1 })
  two.work(10)
  resolve(await two.metrics.collect())
  assert.deepEqual(await scrape(), { counter: 18, histogram: 18, gauge: 2 })
})

test('a thread that dies during a scrape, before or after its answer, is counted once', async () => {
  const [one, two, three] = [createThread(), createThread(), createThread()]
  const running = { list: [one, two, three] }
  const scrape = createScrapes(running)
  for (const each of running.list) each.work(2)
  await scrape()
  const { promise, reject } = Promise.withResolvers<MetricObject[]>()
  const asked = Promise.withResolvers<void>()
  two.answerWith(() => {
    asked.resolve()
    return promise
  })
  const scraped = scrape()
  await asked.promise
  running.list = [three]
  reject(new Error('died'))
  assert.deepEqual(await scraped, { counter: 6, histogram: 6, gauge: 1 })
  assert.deepEqual(await scrape(), { counter: 6, histogram: 6, gauge: 1 })
})

test('an answer that comes after a later one does not take counters back', async () => {
  const thread = createThread()
  const running = { list: [thread] }
  const scrape = createScrapes(running)
  thread.work(1)
  const early = await thread.metrics.collect()
  const { promise, resolve } = Promise.withResolvers<MetricObject[]>()
  const asked = Promise.withResolvers<void>()
  thread.answerWith(() => {
    asked.resolve()
    return promise
  })
  const first = scrape()
  await asked.promise
  thread.work(1)
  thread.answerWith(thread.metrics.collect)
  assert.equal((await scrape()).counter, 2)
  resolve(early)
  assert.equal((await first).counter, 2)
})

test('the processor time is that of the process, whenever its thread was started', async () => {
  const metrics = createMetrics()
  const before = secondsOf(process.cpuUsage())
  const list = await metrics.collect()
  const total = list.find(({ name }) => name === 'process_cpu_seconds_total')?.values[0]?.value ?? 0
  assert.ok(total >= before && total <= secondsOf(process.cpuUsage()), String(total))
})

function secondsOf({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e6
}
