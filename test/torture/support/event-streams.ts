/** Readers of event streams that come and go: subscriptions over GraphQL, and the change log. */
import { setTimeout as sleep } from 'node:timers/promises'

export interface EventStreams {
  /** How many have been opened so far. */
  opened(): number
  /** Descriptions of unexpected answers, and of streams that the service ended. */
  surprises: readonly string[]
  stop(): Promise<void>
}

const paths = [
  `/graphql?${new URLSearchParams({ query: 'subscription { productCreated { id } }' })}`,
  '/api/v2/products/changes',
]
const maxSurprises = 20
const pauseMs = 50

export function startEventStreams({ url, readers }: { url: string; readers: number }): EventStreams {
  const surprises: string[] = []
  const stopping = new AbortController()
  let opened = 0

  async function read(path: string): Promise<void> {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(1000 + Math.floor(Math.random() * 4000))])
    try {
      const { status, body } = await fetch(url + path, { headers: { accept: 'text/event-stream' }, signal })
      // The service may shed load.
      if (status !== 200 && status !== 503) throw new Error(`status ${status}`)
      if (status === 200) opened += 1
      for await (const _ of body ?? []);
      if (status === 200) throw new Error('ended by the service')
    } catch (error) {
      if (!signal.aborted && surprises.length < maxSurprises) surprises.push(`event stream ${path}: ${error}`)
    }
  }

  async function keepReading(path: string): Promise<void> {
    while (!stopping.signal.aborted) {
      await read(path)
      await sleep(pauseMs)
    }
  }

  const running = Array.from({ length: readers }, (_, i) => keepReading(paths[i % paths.length] as string))
  return {
    opened: () => opened,
    surprises,
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}
