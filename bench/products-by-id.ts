/** A product by its id, beside bare node:http with the same bytes and Express 5 with the same query; and the listing. */
import { atLeast, type Benchmark, median, perSecond } from './support/benchmark.ts'
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
    const rounds = measure(byId)
    const listRounds = measure(lists)
    const rate = (all: Record<string, number>[], name: string) =>
      perSecond(median(all.map((round) => round[name] as number)))

    return [
      atLeast('a product by id, of bare node:http with the same bytes', 0.55, {
        ratios: rounds.map((round) => round.service / round.bare),
        note: `${rate(rounds, 'service')} of ${rate(rounds, 'bare')}`,
      }),
      atLeast('a product by id, times Express 5 with the same query', 4, {
        ratios: rounds.map((round) => round.service / round.express),
        note: `${rate(rounds, 'service')} of ${rate(rounds, 'express')}`,
      }),
      atLeast(`the listing of ${count.toLocaleString('en')} products, times Express 5 with COUNT(*)`, 50, {
        ratios: listRounds.map((round) => round.service / round.express),
        note: `${rate(listRounds, 'service')} of ${rate(listRounds, 'express')}`,
      }),
    ]
  } finally {
    for (const server of servers) await server.stop()
    dataset.remove()
  }
}

/** Each of them in turn, five times, once V8 has compiled what it will. */
function measure<Name extends string>(urls: Record<Name, string>): Record<Name, number>[] {
  const rates = (seconds: number) => {
    const entries = Object.entries<string>(urls)
    return Object.fromEntries(entries.map(([name, url]) => [name, load(url, { connections: 64, seconds })]))
  }
  rates(8)
  return Array.from({ length: 5 }, () => rates(3) as Record<Name, number>)
}
