/** Opens connections for the pool, with our settings, and remembers what kind of pooler is in front of the server. */
import type pg from 'pg'
import { withTimeout } from '../../../core/timeout.ts'
import { connectTimeoutMs, type Hosts, type OpenedClient } from './hosts.ts'
import { isTransactionPooled } from './pooler.ts'
import { parserOf } from './types.ts'

const clientConfig = {
  application_name: 'latchkey',
  // Queries are sent without waiting for earlier results.
  pipeline: true,
  types: { getTypeParser: parserOf },
} as pg.ClientConfig

export function createOpener(hosts: Hosts, sessionSettings: string) {
  /** Undefined as long as no pooler has been met. */
  let pooling: 'session' | 'transaction' | undefined
  let checking: Promise<void> | undefined

  async function check(opened: OpenedClient): Promise<void> {
    pooling = (await isTransactionPooled(opened, hosts)) ? 'transaction' : 'session'
  }

  async function setUp(opened: OpenedClient): Promise<void> {
    if (opened.isPooled && pooling === undefined) {
      checking ??= check(opened).finally(() => (checking = undefined))
      await checking
    }
    // On a shared connection they would become the settings of other clients.
    if (opened.isPooled && pooling === 'transaction') return
    await withTimeout(opened.client.query(sessionSettings), connectTimeoutMs)
  }

  return {
    async open(): Promise<OpenedClient> {
      const opened = await hosts.open(clientConfig)
      try {
        await setUp(opened)
        return opened
      } catch (error) {
        opened.client.connection.stream.destroy()
        throw error
      }
    },
    isTransactionPooled: () => pooling === 'transaction',
    /** A prepared statement was not found where it had been prepared. */
    assumeTransactionPooling(): void {
      pooling = 'transaction'
    },
  }
}
