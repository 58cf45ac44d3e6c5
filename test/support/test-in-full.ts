/** Apart from tiers.ts, which the runner imports too, and that must not import node:test. */
import { test } from 'node:test'
import { isFull } from './tiers.ts'

/** A test that takes long, of something that a shorter one touches too: only `npm run test:full` runs it. */
export const testInFull = (isFull ? test : () => {}) as typeof test
