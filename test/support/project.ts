/** A copy of the project as after a clone, with nothing installed and an npm that needs no network. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import type { TestContext } from 'node:test'
import { root } from '../../src/config/root.ts'
import { temporaryFolder } from './databases.ts'
import { collect, type Ended } from './process.ts'

export interface Project {
  path: string
  file(...names: string[]): string
  /** Runs a program of the project to its end. */
  run(program: string, args?: string[], env?: Record<string, string>): Promise<Ended>
  /** Starts a program, which is stopped after the test. */
  start(program: string, args?: string[], env?: Record<string, string>): ChildProcess
  /** The arguments of each call of npm. */
  npmCalls(): string[]
  /** Makes the install outdated. */
  changeLock(): void
  /** Whether a development dependency is installed. */
  hasDev(): boolean
}

export function createProject(t: TestContext): Project {
  const folder = temporaryFolder(t)
  const path = join(folder, 'project')
  for (const name of ['bin', 'src', 'config', 'package.json', 'package-lock.json']) {
    cpSync(join(root, name), join(path, name), { recursive: true })
  }
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  writeFileSync(join(programs, 'npm'), fakeNpm)
  chmodSync(join(programs, 'npm'), 0o755)
  const calls = join(folder, 'calls')
  const start = (program: string, args: string[] = [], env: Record<string, string> = {}) => {
    const child = spawn(resolve(path, program), args, {
      cwd: '/',
      // A group of its own, because what it has started outlives it when it is killed.
      detached: true,
      env: {
        // The Node of the machine, as before an install.
        PATH: [programs, ...pathWithoutModules(), dirname(process.execPath)].join(delimiter),
        HOME: folder,
        FAKE_NPM_CALLS: calls,
        FAKE_NPM_FROM: join(root, 'node_modules'),
        // Which test/cli/bundle.test.ts is about.
        LATCHKEY_BUNDLE: 'off',
        ...env,
      },
    })
    t.after(() => killGroup(child.pid as number))
    return child
  }
  const lock = join(path, 'package-lock.json')
  return {
    path,
    file: (...names) => join(path, ...names),
    start,
    run: (program, args, env) => collect(start(program, args, env)),
    npmCalls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []),
    changeLock() {
      const text = readFileSync(lock, 'utf8')
      const changed = text.replace(/("node_modules\/fastify": \{\s*"version": ")/, '$19')
      // A new file, as a checkout makes it.
      rmSync(lock)
      writeFileSync(lock, changed)
    },
    hasDev: () => existsSync(join(path, 'node_modules', 'typescript')),
  }
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // All of its processes have ended.
  }
}

function pathWithoutModules(): string[] {
  return (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
}

/**
 * Installs by links to what is installed here, and keeps a list as npm does. FAKE_NPM says how it ends: `fail` and `hang`
 * leave half of a folder behind.
 */
const fakeNpm = `#!/usr/bin/env node
// Before anybody is told of this call, and may kill the parent.
const parent = process.ppid
const fs = require('node:fs')
const { FAKE_NPM, FAKE_NPM_MS = '0', FAKE_NPM_CALLS, FAKE_NPM_FROM } = process.env
const args = process.argv.slice(2)
fs.appendFileSync(FAKE_NPM_CALLS, args.join(' ') + '\\n')
const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'))
fs.rmSync('node_modules', { recursive: true, force: true })
fs.mkdirSync('node_modules/half', { recursive: true })
if (FAKE_NPM === 'fail') {
  console.error('npm error network request to https://registry.example failed')
  process.exit(1)
}
// Nobody ends it where its parent was killed.
if (FAKE_NPM === 'hang') setInterval(() => process.ppid === parent || process.exit(), 100)
else setTimeout(finish, Number(FAKE_NPM_MS))
function finish() {
  fs.rmdirSync('node_modules/half')
  for (const path of Object.keys(packages)) {
    if (packages[path].dev && args.includes('--omit=dev')) delete packages[path]
    else if (/^node_modules\\/(@[^/]+\\/)?[^/]+$/.test(path)) link(path)
  }
  fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }, null, 2))
}
function link(path) {
  const from = FAKE_NPM_FROM + path.slice('node_modules'.length)
  if (!fs.existsSync(from)) return
  fs.mkdirSync(require('node:path').dirname(path), { recursive: true })
  fs.symlinkSync(from, path)
}
`
