/**
 * Everything that a test run leaves on the machine is in one folder: temporary files, and a file for each process that
 * is not a child of its test. A watchdog ends those processes and removes the folder as soon as this process is gone,
 * however it ended: it waits for the end of a pipe, which even `kill -9` cannot keep open.
 */
import { type SpawnOptions, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canOthersEnter } from './other-user.ts'

export interface RunFolder {
  path: string
  /** The process that cleans up, in a session of its own. */
  watchdog: number
  /** The folder that tests use for temporary files. */
  temporary: string
  remove(): Promise<void>
}

const plentyOfBytes = 4 * 1024 ** 3

/**
 * In memory if there is enough: on a disk, SQLite tests wait for every fsync. For root, only where other users can enter:
 * PostgreSQL and some tests run as another user.
 */
export function findPlace(): string {
  const memory = '/dev/shm'
  const places = process.env.TMPDIR === undefined && hasPlenty(memory) ? [memory, tmpdir()] : [tmpdir(), memory, '/tmp']
  const isUsable = (place: string) => existsSync(place) && (process.getuid?.() !== 0 || canOthersEnter(place))
  const found = places.find(isUsable)
  if (found) return found
  throw new Error(`the tests run PostgreSQL as another user, who cannot enter ${places.join(' or ')}: set TMPDIR`)
}

function hasPlenty(place: string): boolean {
  if (!existsSync(place)) return false
  const { bavail, bsize } = statfsSync(place)
  return bavail * bsize >= plentyOfBytes
}

export function createRunFolder(place = tmpdir()): RunFolder {
  const path = mkdtempSync(join(place, 'latchkey-test-'))
  chmodSync(path, 0o755)
  const temporary = join(path, 'tmp')
  mkdirSync(temporary)
  // Like any folder for temporary files, whatever the umask.
  chmodSync(temporary, 0o1777)
  const child = spawn('sh', ['-c', watchdog, 'watchdog', path], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    path,
    watchdog: child.pid as number,
    temporary,
    async remove() {
      child.stdin.end()
      await ended
    },
  }
}

/**
 * Runs in its own process group, so that Ctrl-C reaches only the tests and the watchdog controls the order. Returns
 * the process id.
 */
export function startDaemon(folder: string, binary: string, args: string[], options: SpawnOptions): number {
  const child = spawn(binary, args, { ...options, detached: true, stdio: 'ignore' })
  const pid = child.pid as number
  registerProcess(folder, pid)
  child.unref()
  return pid
}

/** Returns a function that removes it from the list after it has ended. */
export function registerProcess(folder: string, pid: number): () => void {
  const file = join(folder, `${pid}.pid`)
  writeFileSync(file, String(pid))
  return () => rmSync(file, { force: true })
}

export function daemonsIn(folder: string): number[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.pid'))
    .map((name) => Number.parseInt(name, 10))
}

const watchdog = `
  cat >/dev/null
  for file in "$1"/*.pid; do [ -e "$file" ] && kill -QUIT "$(cat "$file")" 2>/dev/null; done
  for i in 1 2 3 4 5 6 7 8 9 10; do
    alive=
    for file in "$1"/*.pid; do [ -e "$file" ] && kill -0 "$(cat "$file")" 2>/dev/null && alive=1; done
    [ -z "$alive" ] && break
    [ "$i" = 9 ] && for file in "$1"/*.pid; do kill -KILL "$(cat "$file")" 2>/dev/null; done
    sleep 0.2
  done
  rm -rf "$1"`
