import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './benchmark.ts'

const times = 200
const page = Buffer.alloc(4096)

/** Milliseconds for an fsync of one page. The longer it takes, the more a group commit saves. */
export function measureSync(): number {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const file = openSync(join(folder, 'pages'), 'w')
  try {
    const each = Array.from({ length: times }, () => {
      const start = performance.now()
      writeSync(file, page)
      fsyncSync(file)
      return performance.now() - start
    })
    return median(each)
  } finally {
    closeSync(file)
    rmSync(folder, { recursive: true })
  }
}
