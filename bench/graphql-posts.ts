/** Twenty posts over GraphQL, compared with Apollo Server and Mercurius on the same file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atLeast, type Benchmark, median, perSecond, reported } from './support/benchmark.ts'
import { type BenchServer, load, startServer } from './support/load.ts'
import { script } from './support/post.ts'
import { startService } from './support/service.ts'

const count = 20
const query = '{ posts(limit: 20) { id title body } }'
const rounds = 5

export const graphqlPosts: Benchmark = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const file = join(folder, 'posts.db')
  const servers: BenchServer[] = []
  try {
    const service = await startService('service.ts', { DATABASE_URL: `file:${file}` })
    servers.push(service)
    await createPosts(service.url)
    servers.push(await startServer('mercurius.ts', { DATABASE_FILE: file, NODE_ENV: 'production' }))
    servers.push(await startServer('apollo.ts', { DATABASE_FILE: file, NODE_ENV: 'production' }))
    const [ours, mercurius, apollo] = servers.map(({ url }) => (url.endsWith('/graphql') ? url : `${url}/graphql`)) as [
      string,
      string,
      string,
    ]
    const urls = { ours, mercurius, apollo: apollo.replace(/\/graphql$/, '/') }
    await requireSameResponse(Object.values(urls))

    const body = JSON.stringify({ query })
    const ask = (url: string, seconds: number) => load(url, { connections: 64, seconds, script, env: { BODY: body } })
    for (const url of Object.values(urls)) ask(url, 4)
    const measured = Array.from({ length: rounds }, () => ({
      ours: ask(urls.ours, 3),
      mercurius: ask(urls.mercurius, 3),
      apollo: ask(urls.apollo, 3),
    }))
    const rate = (name: keyof typeof urls) => perSecond(median(measured.map((round) => round[name])))
    return [
      atLeast('20 posts, as a multiple of Mercurius with JIT', 1.5, {
        ratios: measured.map((round) => round.ours / round.mercurius),
        note: `${rate('ours')} of ${rate('mercurius')}`,
      }),
      reported('20 posts, as a multiple of Apollo Server', {
        ratios: measured.map((round) => round.ours / round.apollo),
        note: `${rate('ours')} of ${rate('apollo')}`,
      }),
    ]
  } finally {
    for (const server of servers) await server.stop()
    rmSync(folder, { recursive: true })
  }
}

async function createPosts(url: string): Promise<void> {
  for (let i = 1; i <= count; i++) {
    const create = `mutation { createPost(title: "Post ${i}", body: "What there is to say about number ${i}.") }`
    await post(`${url}/graphql`, create)
  }
}

/** All servers must return the same response, or the comparison is meaningless. */
async function requireSameResponse(urls: string[]): Promise<void> {
  const responses = await Promise.all(urls.map((url) => post(url, query)))
  for (const response of responses) {
    if (JSON.stringify(response) !== JSON.stringify(responses[0]))
      throw new Error(`not the same: ${JSON.stringify(response)}`)
  }
}

async function post(url: string, text: string): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: text }),
  })
  const { data, errors } = (await response.json()) as { data: unknown; errors?: unknown }
  if (errors !== undefined) throw new Error(JSON.stringify(errors))
  return data
}
