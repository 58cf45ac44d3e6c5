import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../src/config/root.ts'
import type { Owner } from './api.ts'
import { temporaryFolder } from './databases.ts'

/** A copy of the shipped configuration with some files replaced, named without their extension. */
export function createConfig(t: Owner, files: Readonly<Record<string, string>>): string {
  const folder = join(temporaryFolder(t), 'config')
  cpSync(join(root, 'config'), folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.mlc`), text)
  return folder
}
