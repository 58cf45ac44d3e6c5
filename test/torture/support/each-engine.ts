/** Runs a script on the engines that its arguments name, or on both. What it left is kept if it fails. */
import { cpSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Torture } from '../main.ts'

export type Engine = 'sqlite' | 'postgres'

export interface Places {
  folder: string
  /** For what helps to find out why it failed. */
  kept: string
}

export function onEachEngine(name: string, torment: (engine: Engine, places: Places) => Promise<void>): Torture {
  return async ({ folder, args }) => {
    for (const engine of args.length > 0 ? (args as Engine[]) : (['sqlite', 'postgres'] as const)) {
      const kept = join(folder, `${engine}-kept`)
      mkdirSync(kept)
      try {
        await torment(engine, { folder, kept })
      } catch (error) {
        const copy = join(tmpdir(), `latchkey-${name}-${process.pid}`)
        cpSync(kept, copy, { recursive: true })
        process.stdout.write(`FAILED: what it left is in ${copy}\n`)
        throw error
      }
    }
  }
}
