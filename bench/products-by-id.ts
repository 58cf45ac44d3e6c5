/** A product by id and the listing, compared with bare node:http (same bytes) and Express 5 (same queries). */
import { setTimeout as sleep } from 'node:timers/promises'
import { atLeast, type Benchmark, median, perSecond, reported } from './support/benchmark.ts'
import { createPlainCopy, createSqliteDataset } from './support/dataset.ts'
import { type BenchServer, load, startServer } from './support/load.ts'
import { startService } from './support/service.ts'

const count = 100_000
const path = '/api/v2/products'

export const productsById: Benchmark = async () => {
  const dataset = await createSqliteDataset(count)
  const servers: BenchServer[] = []
  try {
    const service = await startService('service.ts', { DATABASE_URL: dataset.url })
    servers.push(service)
    const body = await (await fetch(`${service.url}${path}/500`)).text()
    const bare = await startServer('bare.ts', { BODY: body })
    const express = await startServer('express.ts', {
      DATABASE_FILE: createPlainCopy(dataset),
      NODE_ENV: 'production',
    })
    servers.push(bare, express)

    const byId = { service: `${service.url}${path}/500`, bare: bare.url, express: `${express.url}${path}/500` }
    const lists = { service: `${service.url}${path}`, express: `${express.url}${path}` }
    const rounds = await measure(byId)
    const listRounds = await measure(lists)
    const rate = (all: Record<string, number>[], name: string) =>
      perSecond(median(all.map((round) => round[name] as number)))

    return [
      atLeast('a product by id, as a fraction of bare node:http with the same bytes', 0.65, {
        ratios: rounds.map((round) => round.service / round.bare),
        note: `${rate(rounds, 'service')} of ${rate(rounds, 'bare')}`,
      }),
      reported('a product by id, as a multiple of Express 5 with the same query', {
        ratios: rounds.map((round) => round.service / round.express),
        note: `${rate(rounds, 'service')} of ${rate(rounds, 'express')}`,
      }),
      atLeast(`the listing of ${count.toLocaleString('en')} products, as a multiple of Express 5 with COUNT(*)`, 50, {
        ratios: listRounds.map((round) => round.service / round.express),
        note: `${rate(listRounds, 'service')} of ${rate(listRounds, 'express')}`,
      }),
    ]
  } finally {
    for (const server of servers) await server.stop()
    dataset.remove()
  }
}

/** Measures each of them in turn, five times, after a warm-up for V8 to compile. */
async function measure<Name extends string>(urls: Record<Name, string>): Promise<Record<Name, number>[]> {
  const rates = async (seconds: number) => {
    const measured: Partial<Record<Name, number>> = {}
    for (const name of Object.keys(urls) as Name[]) {
      measured[name] = load(urls[name], { connections: 64, seconds })
      // After the run, Express still works for a second on 64 abandoned counts, on the core that the next server needs.
      await sleep(1500)
    }
    return measured as Record<Name, number>
  }
  await rates(8)
  const rounds: Record<Name, number>[] = []
  for (let round = 0; round < 5; round++) rounds.push(await rates(3))
  return rounds
}
