/** What a run is for: `npm run test:fast` while you edit, `npm test` for every claim, `npm run test:full` everywhere. */
import { globSync } from 'node:fs'
import { root } from '../../src/config/root.ts'

export const tiers = ['fast', 'normal', 'full'] as const
export type Tier = (typeof tiers)[number]

export const testFiles = ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts']

/** Folders of test/ that a tier leaves to the next one. */
const heavy = ['full', 'programs']
const leftOut: Readonly<Record<Tier, readonly string[]>> = {
  fast: [...heavy, 'browser', 'cli', 'client', 'contract', 'crash', 'docs', 'load'],
  normal: heavy,
  full: [],
}

/**
 * Tests about what serving threads share. Their services have two unless a test says otherwise. In `npm run test:full`
 * all services of test/api have.
 */
export const aboutThreads: readonly string[] = [
  'changes-mirror',
  'changes-order',
  'console-live',
  'ended-sessions',
  'frozen-redis',
  'live-access',
  'metrics',
  'products-kept-lists',
  'refresh',
  'threads',
  'threads-pool',
  'topics-between-nodes',
].map((name) => `test/api/${name}.test.ts`)

/** What takes longest of the rest: it is about all addresses or sources, about long lists, or waits for timers. */
const slow: readonly string[] = [
  ...[
    'access-matrix',
    'collections-changes',
    'collections-long-lists',
    'collections-openapi',
    'durable-listeners',
    'features-disabled',
    'openapi',
    'products-orders',
    'webhooks-delivery',
  ].map((name) => `test/api/${name}.test.ts`),
  'test/patterns.test.ts',
]

/** Paths from the project's folder. */
export function filesOf(tier: Tier): string[] {
  const files = globSync(testFiles, { cwd: root }).filter((file) => !leftOut[tier].some((name) => isIn(name, file)))
  if (tier !== 'fast') return files
  const others = [...aboutThreads, ...slow]
  return files.filter((file) => !file.startsWith('examples/') && !others.includes(file))
}

/** Whether a path from the project's folder is in this folder of test/. */
export function isIn(folder: string, file: string): boolean {
  return file.startsWith(`test/${folder}/`)
}

/** `npm run test:full` repeats claims on both engines, with two threads, in all widths and looks, and with more input. */
export const isFull = process.env.TEST_TIER === 'full'

/** All of them in `npm run test:full`, otherwise the named ones: enough to notice that the claim is broken. */
export function chosen<T>(all: readonly T[], isChosen: (each: T, index: number) => boolean): readonly T[] {
  return isFull ? all : all.filter(isChosen)
}

/** How often or how much: `npm run test:full` takes more. */
export function amount({ full, otherwise }: { full: number; otherwise: number }): number {
  return isFull ? full : otherwise
}
