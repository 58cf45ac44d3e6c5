/** Separate socket servers with time limits short enough for tests. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { createFairScheduler } from '../../src/platform/graphql/execution/fair-scheduler.ts'
import { createUpgradeServer, type UpgradeServerOptions } from '../../src/platform/graphql/websocket/upgrade-server.ts'
import { createAddressBudgets } from '../../src/platform/limiter/address-budgets.ts'
import { createLimitsPerAddress } from '../../src/platform/limiter/connections-per-address.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import type { ApiOptions } from './api.ts'
import { startSocketApi } from './sockets.ts'

type OwnOptions = Pick<ApiOptions, 'elements'> & Pick<UpgradeServerOptions, 'timing'>

/** Closed after the test. The caller has to pass upgrades to them. */
export async function createStandaloneSockets(t: TestContext, { elements = [], timing = {} }: OwnOptions = {}) {
  const { parts } = await startSocketApi(t, { elements })
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = createLogger({ level: 'info', isTerminal: false, destination })
  const sockets = createUpgradeServer({
    ...parts,
    log,
    addressOf: () => '127.0.0.1',
    requestIdOf: () => 'x',
    origins: ['*'],
    perAddress: createLimitsPerAddress()('sockets', 10),
    maxSubscriptions: 10,
    maxAnonymousMessage: 1_000_000,
    scheduler: createFairScheduler({ onError: assert.ifError }),
    budgets: createAddressBudgets({
      maxBytes: 100_000_000,
      subscriptions: createLimitsPerAddress()('subscriptions', 10),
      maxOperations: 10,
    }),
    timing,
  })
  t.after(() => sockets.close())
  return { parts, sockets, log, lines }
}

/** The same, at a path of an HTTP server. */
export async function serveStandaloneSockets(t: TestContext, timing: NonNullable<UpgradeServerOptions['timing']>) {
  const { parts, sockets } = await createStandaloneSockets(t, { timing })
  const server = createServer()
  sockets.serveAt(server, '/graphql')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { parts, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/graphql` }
}
