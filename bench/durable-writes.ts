/** Writes of 64 callers through the interface, beside the same that wait for no disk, and beside one commit each. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { atLeast, type Benchmark, median, perSecond, told } from './support/benchmark.ts'
import { measureSync } from './support/disk.ts'

const rounds = 5
const roundMs = 1500
const support = join(import.meta.dirname, 'support')

export const durableWrites: Benchmark = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const file = join(folder, 'bench.db')
  try {
    const careless = { NODE_OPTIONS: `--import ${join(support, 'no-sync.ts')}` }
    const measured = Array.from({ length: rounds }, () => ({
      durable: grouped(file),
      careless: grouped(file, careless),
      alone: oneByOne(file),
    }))
    const rate = (way: 'durable' | 'careless' | 'alone') => perSecond(median(measured.map((round) => round[way])))
    const disk = `this disk keeps a page in ${measureSync().toFixed(2)} ms`
    return [
      atLeast('durable writes of 64 callers, of the same with synchronous=OFF', 0.5, {
        ratios: measured.map((round) => round.durable / round.careless),
        note: `${rate('durable')} of ${rate('careless')}; ${disk}`,
      }),
      told('durable writes of 64 callers, times one commit each on the same file', {
        ratios: measured.map((round) => round.durable / round.alone),
        note: `${rate('durable')} of ${rate('alone')}`,
      }),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** In a process of its own, on all cores: the event loop and the writer are two threads. */
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
