/**
 * With topics in memory, a value reaches the subscribers of one node only. Nodes announce themselves to each other, so
 * that an operator who runs several is told once.
 */
import type { Bus } from '../platform/bus/bus.ts'
import type { Log } from '../platform/log/logger.ts'

export interface LonelyTopicsOptions {
  nodeBus: Bus
  log: Log
  nodeId: string
}

const presenceTopic = 'nodes with topics in memory'

interface Presence {
  nodeId?: unknown
  /** Given in the reply to another node's announcement. */
  isReply?: unknown
}

/** Returns a function that stops it. */
export async function warnOfLonelyTopics({ nodeBus, log, nodeId }: LonelyTopicsOptions): Promise<() => void> {
  let isWarned = false
  const announce = (isReply: boolean) => nodeBus.publish(presenceTopic, { nodeId, isReply }).catch(ignore)
  const unsubscribe = await nodeBus.subscribe(presenceTopic, (message) => {
    const other = (message ?? {}) as Presence
    if (other.nodeId === nodeId) return
    if (other.isReply !== true) void announce(true)
    if (isWarned) return
    isWarned = true
    log.warn(
      'another node uses the same database, but GQL_PUBSUB=in_memory: a subscription gets only what is published on ' +
        'its own node; set GQL_PUBSUB to postgres or redis on all nodes',
    )
  })
  // Another node may have started during the gap.
  const forgetGaps = nodeBus.onGap(() => void announce(false))
  await announce(false)
  return () => {
    unsubscribe()
    forgetGaps()
  }
}

const ignore = () => {}
