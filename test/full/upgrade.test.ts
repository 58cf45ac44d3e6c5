/** The previous release and this one side by side on one PostgreSQL database, under load. See docs/upgrading.md. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createClient } from '../../src/testing/client.ts'
import { openChanges } from '../support/changes.ts'
import { createDatabaseUrl } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { startSmtp } from '../support/mailbox.ts'
import { password } from '../support/people.ts'
import { installPreviousRelease } from '../support/previous-release.ts'
import { latchkey, type Running, startProcess } from '../support/process.ts'
import { productsPath } from '../support/products.ts'
import { openSocket } from '../support/sockets.ts'
import { type Received, startReceiver, verify } from '../support/webhook-receiver.ts'
import { type Exchange, type Node, signUp } from './upgrade-step.ts'
import { upgradeSteps } from './upgrade-steps.ts'

/** How often each step runs in each direction before the previous release is stopped. */
const minRuns = 10

test('nodes of two releases accept what the other issued, and no request fails during the upgrade', async (t) => {
  const program = installPreviousRelease(t)
  const mailbox = await startSmtp(t)
  const env = {
    DATABASE_URL: await createDatabaseUrl(t, 'postgres'),
    JWT_SECRET: 'a secret that only the tests know and use',
    GQL_PUBSUB: 'postgres',
    BCRYPT_COST: '4',
    MAIL_URL: mailbox.url,
    PUBLIC_URL: 'http://localhost:3000',
    ...Object.fromEntries(limits.map((name) => [`RATE_LIMIT_${name}`, '1000000/60'])),
  }
  const before = await startProcess(t, { env, program })
  const previous = nodeOf('previous', before)
  const admin = await createAdministrator(previous, { env, program })
  const created = new Set<number>()
  const receiver = await startReceiver(t)
  const webhook = { url: receiver.url, types: ['product.created'] }
  const { status, body } = await previous.post('/api/admin/webhooks', webhook, admin)
  assert.equal(status, 201)
  const tested = await startReceiver(t)
  const steps = upgradeSteps({ mailbox, receiver: tested, admin, onProduct: (id) => created.add(id) })
  const load = startLoad(steps, [[previous, previous]])
  await load.settled(2)

  // The first start of the new release migrates the database while the other serves.
  const after = await startProcess(t, { env })
  const current = nodeOf('current', after)
  const watch = { url: tested.url, types: ['user.disabled'] }
  assert.equal((await previous.post('/api/admin/webhooks', watch, admin)).status, 201)
  const follow = async (node: Node) => ({
    changes: await openChanges(t, node.url, { query: '?after=0' }),
    socket: await openSocket(t, `${node.url.replace('http', 'ws')}/graphql`),
  })
  const followers = [await follow(previous), await follow(current)]
  for (const { socket } of followers) socket.send({ query: 'subscription { productCreated { id } }' })
  load.between([
    [previous, current],
    [current, previous],
  ])
  await load.settled(minRuns)
  for (const { socket } of followers) assert.ok(socket.waiting() > 0, 'subscribers hear of products of both nodes')

  // Issued by one release while both run, and still valid when only the new one is left.
  const kept = await Promise.all(
    Object.entries(steps).flatMap(([name, exchange]) =>
      [previous, current].map(async (node) => ({ name: `${name} of ${node.name}`, use: await exchange(node) })),
    ),
  )
  await load.between([[current, current]])
  await eventually(() => assert.deepEqual(missingIn(created, followers[0]), []))
  const listCursor = async () => (await current.get(productsPath)).headers.get('x-cursor') ?? ''
  assert.match(await listCursor(), /^\d+$/, 'as long as the previous release is there, it can read every cursor')
  before.child.kill('SIGTERM')
  assert.equal((await before.ended).code, 0)
  await eventually(async () => assert.match(await listCursor(), /^[\w-]{48}$/), 60_000)
  await load.between([[current, current]])
  await load.settled(2)
  const failures = await load.stop()
  for (const { name, use } of kept) await use(current).catch((error) => failures.push(`${name}: ${error.message}`))
  assert.deepEqual(failures, [])

  await eventually(() => assert.deepEqual(missingIn(created, followers[1]), []), 60_000)
  const delivered = () => new Set(receiver.received.map(({ message }) => message.data.id))
  await eventually(() => assert.deepEqual([...created.difference(delivered())], []), 120_000)
  for (const each of receiver.received) verify(body.secret, each)
  assert.deepEqual([...new Set(receiver.received.map(releaseOf))].sort(), ['current', 'previous'], 'both deliver')
  const { id } = await signUp(current)
  assert.equal((await current.put(`/api/admin/users/${id}`, { disabled: true }, admin)).status, 200)
  const disabled = () => tested.received.filter(({ message }) => message.type === 'user.disabled')
  await eventually(() =>
    assert.deepEqual(
      disabled().map(({ message }) => message.data.user.id),
      [id],
    ),
  )
})

/** The previous release numbers its messages by the change log; this one gives them the version of the product. */
const releaseOf = ({ id }: Received): Node['name'] => (/^msg_\d+$/.test(id) ? 'previous' : 'current')

const limits = ['LOGIN', 'REGISTER', 'REFRESH', 'VERIFY', 'RESET', 'KEYS']

type Pair = readonly [from: Node, to: Node]

/** Runs all steps side by side, each in every direction in turn. */
function startLoad(steps: Readonly<Record<string, Exchange>>, first: readonly Pair[]) {
  const failures: string[] = []
  let pairs = first
  let runs = new Map<string, number>()
  let isStopping = false
  const running = new Set<Promise<void>>()

  async function runOnce(name: string, exchange: Exchange, [from, to]: Pair): Promise<void> {
    const direction = `${name}, ${from.name} to ${to.name}`
    try {
      await (await exchange(from))(to)
    } catch (error) {
      failures.push(`${direction}: ${(error as Error).message}`)
    }
    runs.set(direction, (runs.get(direction) ?? 0) + 1)
  }

  const workers = Object.entries(steps).map(async ([name, exchange]) => {
    for (let i = 0; !isStopping; i++) {
      const run = runOnce(name, exchange, pairs[i % pairs.length] as Pair)
      running.add(run)
      await run
      running.delete(run)
    }
  })
  return {
    /** From now on between these nodes. Resolves when nothing is under way between others. */
    async between(next: readonly Pair[]): Promise<void> {
      pairs = next
      await Promise.all(running)
      runs = new Map()
    },
    /** Waits until each step has run this often in each direction. */
    settled: (count: number) =>
      eventually(() => {
        for (const name of Object.keys(steps)) {
          for (const [from, to] of pairs) {
            const direction = `${name}, ${from.name} to ${to.name}`
            assert.ok((runs.get(direction) ?? 0) >= count, `${direction}: ${runs.get(direction) ?? 0} runs`)
          }
        }
      }, 300_000),
    async stop(): Promise<string[]> {
      isStopping = true
      await Promise.all(workers)
      return failures
    },
  }
}

function nodeOf(name: Node['name'], { url }: Running): Node {
  return { name, url, ...createClient(url) }
}

async function createAdministrator(node: Node, options: { env: Record<string, string>; program: string }) {
  const email = `${randomUUID()}@example.com`
  const args = ['user:create', '--email', email, '--role', 'admin']
  const { code, stderr } = await latchkey(args, { ...options, input: `${password}\n` })
  assert.equal(code, 0, stderr)
  const { body } = await node.post('/api/auth/login', { email, password })
  return body.access_token as string
}

function missingIn(
  created: ReadonlySet<number>,
  follower: { changes: { changes: { data: { id: number } }[] } } | undefined,
) {
  const seen = new Set(follower?.changes.changes.map(({ data }) => data.id))
  return [...created.difference(seen)]
}
