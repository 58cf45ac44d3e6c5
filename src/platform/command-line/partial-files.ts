/**
 * Names of files that are being written, `FILE.<pid>-<place>-<random>.partial`, and removal of those whose process was
 * killed. No two are the same, so that what is left of one never blocks another.
 */
import { hash } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { systemRandom } from '../../core/random.ts'

/** What follows the name of the file. Earlier versions wrote the process id alone. */
const suffixPattern = /^\.(\d+)(?:-([0-9a-z]+)-[\w-]+)?\.partial$/

/** No running process leaves its file alone for so long. */
const abandonedAfterMs = 3_600_000

/** The names of this process, without folders: a folder may be written in several ways. */
const current = new Set<string>()

export interface PartialFile {
  path: string
  /** To be called when it is renamed or removed. */
  release(): void
}

export function namePartialFile(target: string): PartialFile {
  const path = `${target}.${process.pid}-${findPlace()}-${systemRandom.id()}.partial`
  current.add(basename(path))
  return { path, release: () => void current.delete(basename(path)) }
}

/** Removes what killed processes have left of this file. `own` is the new one, which the age of others is measured by. */
export async function removeLeftovers(target: string, own: string): Promise<void> {
  const folder = dirname(target)
  // The time of the file system, which may be another machine's.
  const { mtimeMs: now } = await lstat(own)
  for (const name of await readdir(folder)) {
    if (!name.startsWith(basename(target))) continue
    const path = join(folder, name)
    const match = suffixPattern.exec(name.slice(basename(target).length))
    if (!match || current.has(name)) continue
    const [, pid, place] = match
    const found = await lstat(path).catch(() => undefined)
    if (!found || found.isDirectory()) continue
    if (isDead(Number(pid), place) || now - found.mtimeMs > abandonedAfterMs) await rm(path, { force: true })
  }
}

/** Whether its process has surely ended. The id of a process says nothing about those of another machine or container. */
function isDead(pid: number, place = findPlace()): boolean {
  return place === findPlace() && !isRunning(pid)
}

/** Where ids of processes mean the same. */
function findPlace(): string {
  return hash('sha256', `${hostname()} ${findProcessNamespace()}`).slice(0, 8)
}

function findProcessNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    // Not on Linux.
    return ''
  }
}

/** A file with the id of this process that it does not know is that of an earlier one. */
function isRunning(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
