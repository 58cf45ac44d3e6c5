/**
 * What a run has left on the machine. Only what the run has started counts: a process belongs to it if it is in the session
 * of the tests, or if its environment, its arguments or its working folder name the folder of the run. Needs /proc.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Run {
  folder: string
  /** The folder in which tests create their temporary files. */
  temporary: string
  /** Of the processes that ran the tests, and have ended. */
  sessions: readonly number[]
  /** Processes that are still needed, with all that they have started. */
  expected: ReadonlySet<number>
}

interface Left {
  pid: number
  line: string
}

/** A killed process may need a moment to end, and more on a busy machine. */
const graceMs = Number(process.env.TEST_GRACE_MS ?? 30_000)

/** Where npm and tsc keep compiled code if no other folder is named. All processes share it. */
const compileCache = 'node-compile-cache'

/** Waits for what is ending. Returns a line for everything that stays, and kills the processes. */
export async function removeLeftovers(run: Run, waitMs = graceMs): Promise<string[]> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const processes = findProcesses(run)
    const files = existsSync(run.temporary) ? readdirSync(run.temporary).filter((name) => name !== compileCache) : []
    if (processes.length + files.length === 0) return []
    if (performance.now() < deadline) {
      await sleep(200)
      continue
    }
    for (const { pid } of processes) kill(pid)
    return [...processes.map(({ line }) => line), ...files.map((name) => `the file or folder ${name}`)]
  }
}

function findProcesses({ folder, sessions, expected }: Run): Left[] {
  if (!existsSync('/proc/self/stat')) return []
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  const all = new Map(pids.map((pid) => [pid, parseStatus(read(pid, 'stat'))]))
  // A new process with the id of one that ran the tests has a session of its own.
  const ended = sessions.filter((session) => !all.has(session))
  const isExpected = (pid: number | undefined): boolean =>
    pid !== undefined && (expected.has(pid) || isExpected(all.get(pid)?.parent))
  return [...all].flatMap(([pid, status]): Left[] => {
    if (!status || status.state === 'Z' || pid === process.pid || isExpected(pid)) return []
    const isOurs =
      ended.includes(status.session) ||
      [read(pid, 'cmdline'), read(pid, 'environ'), link(`/proc/${pid}/cwd`)].some((text) => text.includes(folder))
    return isOurs ? [{ pid, line: describe(pid) }] : []
  })
}

/** See proc_pid_stat(5). The name of the program may contain anything, so what follows it is found from the end. */
function parseStatus(text: string): { state: string; parent: number; session: number } | undefined {
  if (text === '') return undefined
  const [state = '', parent, , session] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state, parent: Number(parent), session: Number(session) }
}

function describe(pid: number): string {
  const command = read(pid, 'cmdline').replaceAll('\0', ' ').trim().slice(0, 200)
  const ports = listeningPorts(pid)
  return `process ${pid} (${command})${ports.length > 0 ? `, which listens on ${ports.join(', ')}` : ''}`
}

function listeningPorts(pid: number): number[] {
  const inodes = new Set(
    list(`/proc/${pid}/fd`).map((fd) => /^socket:\[(\d+)\]$/.exec(link(`/proc/${pid}/fd/${fd}`))?.[1]),
  )
  const listening = '0A'
  return ['net/tcp', 'net/tcp6'].flatMap((file) =>
    read(pid, file)
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === listening && inodes.has(fields[9]))
      .map((fields) => Number.parseInt(fields[1]?.split(':').at(-1) ?? '', 16)),
  )
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended in the meantime.
  }
}

/** Empty if the process has ended, or belongs to another user. */
function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
