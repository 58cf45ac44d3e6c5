import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { root } from '../../src/config/root.ts'
import { temporaryFolder } from './databases.ts'

/** A copy of the shipped configuration with some files replaced, named without their extension. */
export function createConfig(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = join(temporaryFolder(t), 'config')
  cpSync(join(root, 'config'), folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.mlc`), text)
  return folder
}
