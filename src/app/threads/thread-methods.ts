/** What the main thread and its serving threads tell each other. */
import type { Environment } from '../../config/mlc-values.ts'
import type { TerminalLink } from '../../platform/feature.ts'
import type { Ownership } from '../../platform/http/handed-over.ts'
import type { MetricObject } from '../../platform/metrics/metrics.ts'
import type { RecentFigures } from '../../platform/metrics/recent-requests.ts'
import type { ThreadShare } from '../../platform/threads/process-parts.ts'
import type { ListenAt } from '../create-app.ts'

export type ServerName = 'http' | 'sockets'

/** The numbers of the listening sockets. */
export type Descriptors = Readonly<Record<ServerName, number>>

export interface HandedConnection {
  server: ServerName
  descriptor: number
  ownership: Ownership
}

/** What the main thread may call. */
export type ThreadMethods = {
  /** Opens everything; nothing listens yet. Tests open a thread again after closing it. */
  open(data: ThreadData): Promise<void>
  listen(at: ListenAt): Promise<{ url: string; wsUrl: string; address: string; descriptors: Descriptors }>
  /** Serves a connection that the main thread has accepted, unless that has taken it back. */
  adopt(connection: HandedConnection): void
  /** Tells the features that the service listens. Never rejects. */
  announce(none: undefined): Promise<readonly TerminalLink[]>
  collectMetrics(none: undefined): Promise<MetricObject[]>
  readRecentRequests(none: undefined): RecentFigures
  /** See `Stoppable`. */
  drain(none: undefined): void
  /** Both before any thread is closed; see `ThreadApp`. */
  stopServing(none: undefined): Promise<void>
  exportLastMetrics(none: undefined): Promise<void>
  close(none: undefined): Promise<void>
  cutOff(none: undefined): void
}

export interface ThreadData {
  share: ThreadShare
  /** Each thread reads the configuration itself, because it holds functions of extensions. */
  directory: string
  environment: Environment
  /** Of tests that move the time; see createSharedClock. */
  clock: SharedArrayBuffer | undefined
  /** See compactHeapWhenIdle. */
  compactsHeap: boolean
}
