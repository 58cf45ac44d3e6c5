/** Projects that install and start. */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { eventually } from './eventually.ts'
import { createProject, type Project } from './project.ts'

/** One thread starts in half the time. */
export const anyPort = { HOST: '127.0.0.1', PORT: '0', GQL_WS_HOST: '127.0.0.1', GQL_WS_PORT: '0', THREADS: '1' }

/** What a start does first. */
export const beforeStart: [string, string[]] = ['bin/install', ['--automatic']]

/** Returns the URL of the service. */
async function listening(child: ChildProcess): Promise<{ url: string; said: string }> {
  let said = ''
  child.stdout?.on('data', (chunk) => {
    said += chunk
  })
  child.stderr?.on('data', (chunk) => {
    said += chunk
  })
  return eventually(() => {
    assert.equal(child.exitCode, null, said)
    const url = /Latchkey is listening.*"url":"([^"]+)"|"url":"([^"]+)".*Latchkey is listening/.exec(said)
    assert.ok(url, said)
    return { url: url[1] ?? url[2] ?? '', said }
  }, 120_000)
}

export async function serves(child: ChildProcess): Promise<string> {
  const { url, said } = await listening(child)
  assert.equal((await fetch(`${url}/health/ready`)).status, 200)
  return said
}

/** An installed project, with or without development dependencies. */
export async function createInstalled(t: TestContext, options: string[] = []): Promise<Project> {
  const project = createProject(t)
  const ended = await project.run('bin/install', options)
  assert.equal(ended.code, 0, ended.stderr)
  return project
}

export function assertNothingLeft(project: Project): void {
  assert.equal(existsSync(project.file('.install')), false)
}
