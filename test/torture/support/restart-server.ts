/** Restarts a private PostgreSQL or Redis with the command that it was started with. */
import { readFileSync, readlinkSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning, killTree } from '../../support/process-tree.ts'
import { startDaemon } from '../../support/run-folder.ts'
import { isReachable, type Started } from '../../support/servers.ts'

/** Resolves when its port is open again. SIGKILL is for all of its processes; PostgreSQL needs them gone. */
export async function restartServer(server: Started, folder: string, signal: NodeJS.Signals): Promise<void> {
  const process_ = `/proc/${server.pid}`
  const [command = '', ...args] = readFileSync(`${process_}/cmdline`, 'utf8').split('\0').slice(0, -1)
  // Redis replaces its arguments by a title that shows its address.
  const isRedis = command.includes(':')
  const { uid, gid } = statSync(process_)
  const cwd = readlinkSync(`${process_}/cwd`)
  for (const pid of end(server.pid, signal)) while (isRunning(pid)) await sleep(20)
  const [binary = ''] = isRedis ? command.split(' ') : [command]
  const start = () => startDaemon(folder, binary, isRedis ? redisArguments(server.url) : args, { uid, gid, cwd })
  server.pid = start()
  const port = Number(new URL(server.url).port)
  // PostgreSQL refuses to start beside a process that the list of children has missed; that one ends by itself. The port may
  // be taken by a client that tries to connect to it and meets itself; then the server ends, although the port is open.
  for (let wasRunning = false; !(wasRunning && (await isReachable(port))); ) {
    await sleep(50)
    wasRunning = isRunning(server.pid)
    if (!wasRunning) server.pid = start()
  }
}

/** Returns the processes to wait for. */
function end(pid: number, signal: NodeJS.Signals): number[] {
  if (signal === 'SIGKILL') return killTree(pid)
  process.kill(pid, signal)
  return [pid]
}

function redisArguments(url: string): string[] {
  return ['--bind', '127.0.0.1', '--port', new URL(url).port, '--save', '', '--appendonly', 'no']
}
