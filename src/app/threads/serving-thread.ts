/** A serving thread: the whole service on an event loop of its own, on what the main thread shares with it. */
import { parentPort } from 'node:worker_threads'
import { parseFiles, readOne } from '../../config/config.ts'
import { coreKeys } from '../../config/core-keys.ts'
import { createSharedClock, systemClock } from '../../core/clock.ts'
import { adoptConnection, descriptorOf, own } from '../../platform/http/handed-over.ts'
import { createLogger } from '../../platform/log/logger.ts'
import { compactHeapWhenIdle } from '../../platform/process/steady-heap.ts'
import { keepStopShort } from '../../platform/process/stop-times.ts'
import type { HubMethods } from '../../platform/threads/hub.ts'
import { createPeer } from '../../platform/threads/peer.ts'
import { type Pulse, startBeating } from '../../platform/threads/pulse.ts'
import { createThreadParts } from '../../platform/threads/thread-parts.ts'
import { createApp, type Parts, type ThreadApp } from '../create-app.ts'
import { loadConfig } from '../load-config.ts'
import { loadExtensions } from '../load-extensions.ts'
import type { ThreadMethods } from './thread-methods.ts'

if (!parentPort) throw new Error('serving-thread.ts runs as a worker thread only')
let app: ThreadApp
let figures: Pick<Parts, 'collectMetrics' | 'readRecentRequests'> | undefined
let lines: string[] = []
let pulse: Pulse
let beating: ReturnType<typeof startBeating> | undefined

const methods: ThreadMethods = {
  async open({ share, directory, environment, clock, compactsHeap }) {
    pulse = share.pulse
    const given = { directory, environment }
    const sources = { ...given, files: parseFiles(given), forService: true }
    const extensions = await loadExtensions(readOne(sources, coreKeys.extensions), directory)
    const config = loadConfig(sources, extensions)
    const log = createLogger({ level: config.log.level, isTerminal: false, destination: { write: sendLine } })
    // All threads would say the same while they start.
    if (share.index > 0) log.level = 'error'
    app = await createApp({
      config,
      log,
      extensions,
      clock: clock ? createSharedClock(clock) : systemClock,
      threads: createThreadParts(share, hub),
      onCreated: (_http, parts) => {
        figures = parts
      },
    })
    log.level = config.log.level
    keepStopShort(config.server)
    if (compactsHeap) compactHeapWhenIdle()
  },
  async listen(at) {
    const { url, wsUrl, address } = await app.listen(at)
    const { http, sockets } = app.servers
    beating = startBeating(pulse)
    return { url, wsUrl, address, descriptors: { http: descriptorOf(http), sockets: descriptorOf(sockets) } }
  },
  adopt({ server, descriptor, ownership }) {
    if (own(ownership)) adoptConnection(app.servers[server], descriptor)
  },
  announce: () => app.announce(),
  collectMetrics: () => requireFigures().collectMetrics(),
  readRecentRequests: () => requireFigures().readRecentRequests(),
  drain: () => app.drain(),
  cutOff: () => app.cutOff(),
  stopServing: () => app.stopServing(),
  exportLastMetrics: () => app.exportLastMetrics(),
  async close() {
    beating?.stop()
    await app.close()
    figures = undefined
    sendLines()
  },
}
const hub = createPeer<HubMethods>(parentPort, methods)

function requireFigures() {
  if (!figures) throw new Error('the thread has no service yet')
  return figures
}

/** The lines of one turn of the event loop cross as one message. */
function sendLine(line: string): void {
  if (lines.push(line) === 1) setImmediate(sendLines)
}

function sendLines(): void {
  if (lines.length > 0) hub.tell('log', lines)
  lines = []
}
