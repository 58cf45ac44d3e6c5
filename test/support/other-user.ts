/** For tests that run a program as another user, who may be unable to read this clone, such as one in the home of root. */
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { root } from '../../src/config/root.ts'
import { temporaryFolder } from './databases.ts'

/** `nobody`, and the folder of a program that this user can read. Only root can change users; others stay who they are. */
export function becomeNobody(t: Pick<TestContext, 'after'>): {
  user: { uid?: number; gid?: number }
  program: string
} {
  if (process.getuid?.() !== 0) return { user: {}, program: root }
  const user = { uid: 65_534, gid: 65_534 }
  const samples = ['bin/latchkey', 'src/main.ts', 'node_modules/node/bin/node', 'node_modules/fastify/fastify.js']
  const isReadable = samples.every((sample) => canOthersRead(join(root, sample)))
  return { user, program: isReadable ? root : copyProgram(t, `${user.uid}:${user.gid}`) }
}

export function canOthersRead(path: string): boolean {
  return (statSync(path).mode & 0o004) !== 0 && canOthersEnter(dirname(path))
}

export function canOthersEnter(folder: string): boolean {
  const parent = dirname(folder)
  return (statSync(folder).mode & 0o001) !== 0 && (parent === folder || canOthersEnter(parent))
}

function copyProgram(t: Pick<TestContext, 'after'>, owner: string): string {
  const folder = temporaryFolder(t)
  chmodSync(folder, 0o755)
  for (const name of ['bin', 'config', 'package.json', 'package-lock.json', 'src', ...runtimeModules()]) {
    cpSync(join(root, name), join(folder, name), { recursive: true, verbatimSymlinks: true })
  }
  spawnSync('chown', ['-R', owner, folder])
  return folder
}

/** What `npm ci --omit=dev` installs, and the list of what is installed. */
function runtimeModules(): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>
  }
  const installed = Object.keys(packages).filter(
    (path) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !packages[path]?.dev && existsSync(join(root, path)),
  )
  return ['node_modules/.package-lock.json', ...installed]
}
