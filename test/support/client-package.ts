/** @latchkey/client as its users get it: packed, and installed in a folder of its own. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { root } from '../../src/config/root.ts'
import type { Owner } from './api.ts'
import { blocksOf } from './docs.ts'

export interface InstalledClient {
  /** With node_modules. */
  folder: string
  /** The files of the package. */
  files: string[]
  read(file: string): string
  write(file: string, text: string): void
}

export const clientReadme = readFileSync(join(root, 'packages', 'client', 'README.md'), 'utf8')

/** The block of the README that has this text. */
export function readmeBlock(language: string, text: string): string {
  return blocksOf(clientReadme, language).find((block) => block.includes(text)) ?? assert.fail(`no block has ${text}`)
}

export function installClient(t: Owner): InstalledClient {
  const folder = mkdtempSync(join(tmpdir(), 'client-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [, ...pack] = readmeBlock('sh', 'npm pack').trim().split(' ')
  execFileSync('npm', [...pack, '--silent', '--pack-destination', folder], { cwd: root, stdio: 'pipe' })
  const [tarball = ''] = readdirSync(folder)
  assert.ok(readmeBlock('sh', 'npm install').includes(`/${tarball}\n`))
  const installed = join(folder, 'node_modules', '@latchkey', 'client')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, tarball), '-C', installed, '--strip-components=1'])
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers']) {
    cpSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true })
  }
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  return {
    folder,
    files: readdirSync(installed, { recursive: true, encoding: 'utf8' }),
    read,
    write: (file, text) => writeFileSync(join(folder, file), text),
  }
}

/** The Node that the machine has, which may be older than the one that the service is run by. */
export function findOwnNode(): string {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'))
  return folders.map((each) => join(each, 'node')).find(existsSync) ?? assert.fail('the machine has no Node')
}

/** Runs a script of the folder. Returns what it prints; throws if it fails. */
export async function runScript(
  node: string,
  options: { folder: string; script: string; env: Record<string, string> },
) {
  const child = spawn(node, [options.script], {
    cwd: options.folder,
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [printed, complaints, code] = await Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
    new Promise<number | null>((resolve) => child.once('exit', resolve)),
  ])
  assert.equal(code, 0, complaints.join(''))
  return printed.join('')
}
