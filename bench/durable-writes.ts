/** Durable writes of 64 callers, compared with writes without fsync and with one commit per write. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { atLeast, type Benchmark, median, perSecond, reported } from './support/benchmark.ts'
import { measureSync } from './support/disk.ts'

const rounds = 5
const roundMs = 1500
const support = join(import.meta.dirname, 'support')

export const durableWrites: Benchmark = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const file = join(folder, 'bench.db')
  try {
    const unsynced = { NODE_OPTIONS: `--import ${join(support, 'no-sync.ts')}` }
    const measured = Array.from({ length: rounds }, () => ({
      durable: grouped(file),
      unsynced: grouped(file, unsynced),
      alone: oneByOne(file),
    }))
    const rate = (way: 'durable' | 'unsynced' | 'alone') => perSecond(median(measured.map((round) => round[way])))
    const disk = `fsync of a page takes ${measureSync().toFixed(2)} ms`
    return [
      atLeast('durable writes of 64 callers, as a fraction of synchronous=OFF', 0.5, {
        ratios: measured.map((round) => round.durable / round.unsynced),
        note: `${rate('durable')} of ${rate('unsynced')}; ${disk}`,
      }),
      reported('durable writes of 64 callers, as a multiple of one commit per write', {
        ratios: measured.map((round) => round.durable / round.alone),
        note: `${rate('durable')} of ${rate('alone')}`,
      }),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs in a separate process on all cores: the event loop and the writer are two threads. */
function grouped(file: string, env: Record<string, string> = {}): number {
  const script = join(support, 'grouped-writes.ts')
  const output = execFileSync('taskset', ['-c', `0-${cpus().length - 1}`, process.execPath, script], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', DATABASE_FILE: file, ...env },
  })
  return Number(output)
}

function oneByOne(file: string): number {
  const db = new DatabaseSync(file, { timeout: 10_000 })
  db.exec('PRAGMA synchronous = FULL')
  const insert = db.prepare(
    "INSERT INTO users (email, name, password_hash, created_at, updated_at) VALUES (?, 'n', '-', '', '')",
  )
  const start = performance.now()
  let written = 0
  while (performance.now() - start < roundMs) insert.run(`alone-${start}-${written++}`)
  db.close()
  return written / ((performance.now() - start) / 1000)
}
