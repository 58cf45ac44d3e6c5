/**
 * Resolves names by the system, one at a time: the process has two threads for getaddrinfo, and connections to the database
 * need one, too. A name whose servers do not answer would hold up all others, so names are first asked for without a thread,
 * and those without an answer are not looked up.
 */
import { lookup, Resolver } from 'node:dns/promises'
import { createConcurrencyLimit } from '../../core/concurrency-limit.ts'
import { withTimeout } from '../../core/timeout.ts'

export interface NameLookupsOptions {
  /** For tests: replaces DNS. */
  resolve?: ((host: string) => Promise<string[]>) | undefined
  /** For tests: whether the name servers of this host answer, whatever they answer. */
  isServed?: ((host: string) => Promise<boolean>) | undefined
}

const probeMs = 4000
/** A lookup that takes longer is one of a name server that has trouble. */
const slowMs = 2000
/** For so long, a name that was looked up is not asked for again before. */
const knownMs = 600_000
const maxKnown = 1000

/** Returns all addresses; none if there are none, or if the signal was aborted before it was its turn. Never rejects. */
export function createNameLookups({ resolve, isServed }: NameLookupsOptions) {
  const find = resolve ?? askSystem
  const probe = isServed ?? (resolve ? async () => true : askServers)
  const oneAtATime = createConcurrencyLimit({
    atOnce: 1,
    maxWaiting: Number.POSITIVE_INFINITY,
    refusal: () => new Error('too many lookups'),
  })
  /** By host: until when its name servers count as answering. */
  const known = new Map<string, number>()

  async function look(host: string): Promise<string[]> {
    const startedAt = performance.now()
    const found = await find(host).catch(() => [])
    const isSlow = performance.now() - startedAt > slowMs
    // Others may have the same name servers.
    if (isSlow) known.clear()
    else if (found.length > 0) remember(host)
    return found
  }

  function remember(host: string): void {
    known.delete(host)
    known.set(host, performance.now() + knownMs)
    const [oldest] = known.keys()
    if (known.size > maxKnown && oldest !== undefined) known.delete(oldest)
  }

  return async (host: string, signal: AbortSignal): Promise<string[]> => {
    const isKnown = (known.get(host) ?? 0) > performance.now()
    if (!isKnown && !(await probe(host))) return []
    return oneAtATime(async () => (signal.aborted ? [] : look(host)))
  }
}

async function askSystem(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address)
}

/** A refusal is an answer: the name may be in a file of the system, or in a domain that it adds. */
async function askServers(host: string): Promise<boolean> {
  const resolver = new Resolver({ timeout: probeMs / 2, tries: 2 })
  const ask = (answer: Promise<unknown>) => answer.catch(({ code }) => code !== 'ETIMEOUT' || Promise.reject(code))
  try {
    await withTimeout(Promise.any([ask(resolver.resolve4(host)), ask(resolver.resolve6(host))]), probeMs)
    return true
  } catch {
    return false
  } finally {
    resolver.cancel()
  }
}
