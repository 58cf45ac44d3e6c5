import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { createLogger } from '../../log/logger.ts'
import type { Context } from '../schema/elements.ts'
import type { Selection } from '../schema/selection.ts'
import { endResponse, readWithin } from './response-budget.ts'

const log = createLogger({ level: 'silent', isTerminal: false })
const selection = { fields: new Map([['text', { names: ['text'] }]]) } as unknown as Selection

/** An operation that reads a text of this length. `isRead` is set once the read has been admitted. */
function read(address: string, length: number) {
  const context: Context = { principal: undefined, client: { address, userAgent: '' }, log }
  const operation = { context, isRead: false, done: Promise.resolve() }
  operation.done = readWithin({ context, selection, read: async () => [{ text: 'x'.repeat(length) }] }).then(() => {
    operation.isRead = true
  })
  return operation
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await yieldToEventLoop()
}

test('few long responses are built at once, addresses alternate, and short responses never wait', async () => {
  const flood = Array.from({ length: 30 }, () => read('192.0.2.1', 200_000))
  await settle()
  const readNow = () => flood.filter(({ isRead }) => isRead)
  assert.equal(readNow().length, 4)

  const other = read('192.0.2.2', 200_000)
  const short = read('192.0.2.2', 1000)
  await settle()
  assert.deepEqual([other.isRead, short.isRead], [false, true])

  endResponse(readNow()[0]?.context as Context)
  await settle()
  assert.equal(other.isRead, true, 'the slot goes to the address that has none')
  assert.equal(readNow().length, 4)

  // Operations that end while waiting leave no slot occupied.
  for (const { context } of [...flood, other, short]) endResponse(context)
  await Promise.all(flood.map(({ done }) => done))
  const next = Array.from({ length: 4 }, () => read('192.0.2.3', 200_000))
  await settle()
  assert.ok(next.every(({ isRead }) => isRead))
  for (const { context } of next) endResponse(context)
})
