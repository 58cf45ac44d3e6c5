import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { cutOffUnread } from './unread-answers.ts'

/** A connection for which a megabyte waits, of which the test reads. */
class FakeSocket extends EventEmitter {
  readonly _handle = { bytesWritten: 1_000_000, writeQueueSize: 900_000 }
  destroyed = false

  get writableLength(): number {
    return this._handle.writeQueueSize
  }

  read(bytes: number): void {
    this._handle.writeQueueSize -= bytes
  }

  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

function watch(t: TestContext, count: number) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const server = new EventEmitter()
  const cutOff: unknown[] = []
  const { close } = cutOffUnread({
    server: server as Server,
    seconds: 30,
    onCutOff: (socket: Socket) => cutOff.push(socket),
  })
  t.after(close)
  const sockets = Array.from({ length: count }, () => new FakeSocket())
  for (const socket of sockets) server.emit('connection', socket)
  const pass = (seconds: number) => t.mock.timers.tick(seconds * 1000)
  return { sockets: sockets as [FakeSocket, ...FakeSocket[]], cutOff, pass }
}

test('whoever reads a few bytes now and then is cut off like who reads none', (t) => {
  const { sockets, cutOff, pass } = watch(t, 2)
  const [few] = sockets
  for (let second = 0; second < 36; second += 3) {
    pass(3)
    few.read(10)
  }
  assert.deepEqual(
    sockets.map(({ destroyed }) => destroyed),
    [true, true],
  )
  assert.deepEqual(cutOff, sockets)
})

test('a slow network is no reason to be cut off, whether it carries a little each second or much at once', (t) => {
  const { sockets, pass } = watch(t, 2)
  const [steady, bursts] = sockets as [FakeSocket, FakeSocket]
  for (let second = 1; second <= 600; second += 1) {
    steady.read(1000)
    if (second % 24 === 0) bursts.read(20_000)
    pass(1)
  }
  assert.deepEqual(
    sockets.map(({ destroyed }) => destroyed),
    [false, false],
  )
})

test('whoever has read everything may wait for as long as it likes', (t) => {
  const { sockets, pass } = watch(t, 1)
  const [socket] = sockets
  pass(27)
  socket.read(900_000)
  pass(300)
  socket.read(-1000)
  pass(27)
  assert.equal(socket.destroyed, false)
  pass(9)
  assert.equal(socket.destroyed, true)
})
