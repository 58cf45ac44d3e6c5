/** Decides which traces are recorded, by the names of OTEL_TRACES_SAMPLER. */
import type { TraceContext } from '../trace-context.ts'

type RootSampler = 'always_on' | 'always_off' | 'traceidratio'
export type SamplerName = RootSampler | `parentbased_${RootSampler}`
export type Sample = (traceId: string, parent: TraceContext | undefined) => boolean

const prefix = 'parentbased_'

/** `ratio` is for the samplers that end in `traceidratio`. */
export function createSampler(name: SamplerName, ratio: number): Sample {
  const isParentBased = name.startsWith(prefix)
  const rootName = isParentBased ? name.slice(prefix.length) : name
  const sampleRoot =
    rootName === 'traceidratio' ? sampleByRatio(ratio) : rootName === 'always_on' ? () => true : () => false
  return (traceId, parent) => (isParentBased && parent ? parent.isSampled : sampleRoot(traceId))
}

/**
 * By the last 56 bits of the trace id, which are random, so that all services choose the same traces. The first 52 of them
 * decide: a number holds no more exactly.
 */
function sampleByRatio(ratio: number): (traceId: string) => boolean {
  const threshold = (1 - ratio) * 2 ** 52
  return (traceId) => Number.parseInt(traceId.slice(-14, -1), 16) >= threshold
}
