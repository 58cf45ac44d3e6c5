/**
 * Poolers such as PgBouncer. With session pooling, a client keeps its server connection; with transaction pooling, it
 * gets any of them for each transaction, so that neither session settings, nor prepared statements, nor LISTEN last.
 * A pooler does not say which it does, so it is observed.
 */
import type pg from 'pg'
import { errorMessage } from '../../../core/error-message.ts'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { TimeoutError, withTimeout } from '../../../core/timeout.ts'
import type { Hosts, OpenedClient } from './hosts.ts'

const rounds = 3
const answerMs = 2000

/**
 * While another client holds a transaction open, a client of transaction pooling gets a connection that it did not have
 * before: either the other one has taken it, or the pooler hands them out in turns.
 */
export async function isTransactionPooled(one: OpenedClient, hosts: Hosts): Promise<boolean> {
  if (!one.isPooled) return false
  const opening = hosts.openAt(one.host, { application_name: 'latchkey pooler check' })
  try {
    return await compare(one.client, (await withTimeout(opening, answerMs)).client)
  } catch (error) {
    // No free server connection for the other client. The mode that works behind either kind of pooler is safe.
    if (error instanceof TimeoutError) return true
    if (errorMessage(error).includes('statement pooling')) throw statementPooling(hosts)
    throw error
  } finally {
    // Closing rolls back its transaction.
    opening.then(({ client }) => client.connection.stream.destroy()).catch(ignore)
  }
}

async function compare(one: pg.Client, other: pg.Client): Promise<boolean> {
  for (let round = 0; round < rounds; round++) {
    const before = await pidOf(one)
    await withTimeout(other.query('BEGIN'), answerMs)
    if ((await pidOf(other)) === before) return true
    if ((await pidOf(one)) !== before) return true
    await withTimeout(other.query('COMMIT'), answerMs)
  }
  return false
}

async function pidOf(client: pg.Client): Promise<number | undefined> {
  const asked = client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return (await withTimeout(asked, answerMs)).rows[0]?.pid
}

function statementPooling({ place }: Hosts): FatalError {
  const advice = 'set its pool_mode to transaction or session'
  return new FatalError(
    `the pooler at ${place} pools statements, so it has no transactions: ${advice}`,
    exitCodes.unavailable,
  )
}

const ignore = () => {}
