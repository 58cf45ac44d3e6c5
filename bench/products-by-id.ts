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
    for (const url of Object.values(byId)) load(url, { connections: 64, seconds: 5 })
    const rounds = Array.from({ length: 5 }, () => measure(byId, 3))

    const lists = { service: `${service.url}${path}`, express: `${express.url}${path}` }
    load(lists.service, { connections: 64, seconds: 3 })
    const listRounds = Array.from({ length: 3 }, () => measure(lists, 3))
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

/** Each of them in turn. */
function measure<Name extends string>(urls: Record<Name, string>, seconds: number): Record<Name, number> {
  const rates = Object.entries<string>(urls).map(([name, url]) => [name, load(url, { connections: 64, seconds })])
  return Object.fromEntries(rates) as Record<Name, number>
}
