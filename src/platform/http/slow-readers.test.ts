import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { disconnectSlowReaders } from './slow-readers.ts'

/** A connection with a megabyte of unread data, which the test reads. */
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
  const disconnected: unknown[] = []
  const { close } = disconnectSlowReaders({
    server: server as Server,
    seconds: 30,
    onDisconnect: (socket: Socket) => disconnected.push(socket),
  })
  t.after(close)
  const sockets = Array.from({ length: count }, () => new FakeSocket())
  for (const socket of sockets) server.emit('connection', socket)
  const pass = (seconds: number) => t.mock.timers.tick(seconds * 1000)
  return { sockets: sockets as [FakeSocket, ...FakeSocket[]], disconnected, pass }
}

test('a client that reads a few bytes now and then is disconnected like one that reads none', (t) => {
  const { sockets, disconnected, pass } = watch(t, 2)
  const [few] = sockets
  for (let second = 0; second < 36; second += 3) {
    pass(3)
    few.read(10)
  }
  assert.deepEqual(
    sockets.map(({ destroyed }) => destroyed),
    [true, true],
  )
  assert.deepEqual(disconnected, sockets)
})

test('a slow network is tolerated, whether it delivers a little each second or in bursts', (t) => {
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

test('a client that has read everything may stay idle', (t) => {
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
