/** The release before this one, installed beside it. See docs/upgrading.md. */
import { execFileSync } from 'node:child_process'
import type { TestContext } from 'node:test'
import { root } from '../../src/config/root.ts'
import { temporaryFolder } from './databases.ts'

/** The commit of the last release. Set it to the new commit whenever one is released. */
export const previousRelease = '3da5c9a87c1f8cbb0240100206d2618536d55cc9'

/** Checks out and installs the previous release. Returns its folder, which is removed after the test. */
export function installPreviousRelease(t: Pick<TestContext, 'after'>): string {
  const folder = temporaryFolder(t)
  try {
    execFileSync('sh', ['-c', 'git archive "$1" | tar -x -C "$2"', 'sh', previousRelease, folder], { cwd: root })
  } catch (error) {
    const advice = 'a shallow clone lacks it: run "git fetch --unshallow"'
    throw new Error(`cannot check out the previous release, ${previousRelease}; ${advice}`, { cause: error })
  }
  execFileSync('bin/install', { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  return folder
}
