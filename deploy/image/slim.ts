/**
 * Removes from node_modules what the service never reads: types, source maps, documentation, and of GraphiQL and React
 * everything but the built files that the playground serves. For an image; it halves the dependencies.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { playgroundFiles } from '../../src/platform/graphql/playground/playground.ts'

const modules = join(import.meta.dirname, '..', '..', 'node_modules')
const unread = ['.map', '.md', '.markdown', '.d.ts', '.d.mts', '.d.cts', '.tsbuildinfo']

/** Paths to keep of packages that only the browser loads. */
const served = new Map<string, Set<string>>()
for (const page of Object.values(playgroundFiles)) {
  if (!('packageName' in page)) continue
  const { packageName, file } = page
  served.set(packageName, (served.get(packageName) ?? new Set(['package.json'])).add(file))
}

let removed = 0
for (const entry of readdirSync(modules, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue
  const path = join(entry.parentPath, entry.name)
  if (isKept(path.slice(modules.length + 1), entry.name)) continue
  rmSync(path)
  removed += 1
}
process.stdout.write(`removed ${removed} files that are never read\n`)

function isKept(path: string, name: string): boolean {
  if (/^licen[cs]e/i.test(name)) return true
  const [first = ''] = path.split('/')
  const files = served.get(first)
  return files ? files.has(path.slice(first.length + 1)) : !unread.some((end) => name.endsWith(end))
}
