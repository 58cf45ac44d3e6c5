/** Files that commands write: what a killed one leaves behind, and several at once. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createOutputFile } from '../../src/platform/command-line/output-file.ts'
import { temporaryFolder } from '../support/databases.ts'

const options = { canReplace: true, mode: 0o600 }

async function write(path: string, text = 'new'): Promise<void> {
  const file = await createOutputFile(path, options)
  await file.write(text)
  await file.finish()
}

const moduleUrl = new URL('../../src/platform/command-line/output-file.ts', import.meta.url).href

/** Another process that has begun to write the file. */
async function startWriting(t: TestContext, path: string) {
  const script = `
    const { createOutputFile } = await import(${JSON.stringify(moduleUrl)})
    const file = await createOutputFile(${JSON.stringify(path)}, { canReplace: true, mode: 0o600 })
    await file.write('begun')
    process.stdout.write('begun')
    process.stdin.once('data', async () => { await file.write(', finished'); await file.finish(); process.exit() })`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script])
  t.after(() => child.kill('SIGKILL'))
  child.stderr.pipe(process.stderr)
  await once(child.stdout, 'data')
  return child
}

const partialsIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.partial'))

test('what a killed process has left is removed by the next to the same name', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'a.archive')
  const child = await startWriting(t, path)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const [left] = partialsIn(folder)
  assert.equal(lstatSync(join(folder, String(left))).mode & 0o777, 0o600)
  await write(join(folder, 'b.archive'))
  assert.deepEqual(partialsIn(folder), [left], 'that of another name stays')
  await write(path)
  assert.deepEqual(readdirSync(folder).toSorted(), ['a.archive', 'b.archive'])
})

test('what a process with the same id has left neither blocks nor stays, also that of an earlier version', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'a.archive')
  const running = await createOutputFile(path, options)
  const [name = ''] = partialsIn(folder)
  await running.discard()
  writeFileSync(join(folder, name), 'of an earlier process with this id')
  writeFileSync(`${path}.${process.pid}.partial`, 'of an earlier version')
  await write(path)
  assert.deepEqual(readdirSync(folder), ['a.archive'])
  assert.equal(readFileSync(path, 'utf8'), 'new')
})

test('several at once to the same name leave each other alone, and the last one wins', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'a.archive')
  const child = await startWriting(t, path)
  const first = await createOutputFile(path, options)
  const second = await createOutputFile(path, options)
  assert.equal(partialsIn(folder).length, 3)
  for (const [file, text] of [
    [first, 'first'],
    [second, 'second'],
  ] as const) {
    await file.write(text)
    await file.finish()
    assert.equal(readFileSync(path, 'utf8'), text)
  }
  child.stdin.write('go on')
  assert.deepEqual(await once(child, 'exit'), [0, null])
  assert.equal(readFileSync(path, 'utf8'), 'begun, finished')
  assert.deepEqual(readdirSync(folder), ['a.archive'])
})

test('a file is written whichever way its folder is', async (t) => {
  const folder = temporaryFolder(t)
  symlinkSync('.', join(folder, 'itself'))
  const relativePath = relative(process.cwd(), folder)
  for (const path of [
    `${folder}/./a`,
    `${folder}//b`,
    `${folder}/itself/c`,
    `${relativePath}/d`,
    `./${relativePath}/e`,
  ]) {
    const other = await createOutputFile(join(folder, basename(path)), options)
    await write(path)
    await other.finish()
  }
  assert.deepEqual(readdirSync(folder).toSorted(), ['a', 'b', 'c', 'd', 'e', 'itself'])
})

test('one of another machine or container is let alone until nothing was written to it for an hour', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'a.archive')
  const elsewhere = `${path}.999999999-elsewhere-x.partial`
  writeFileSync(elsewhere, 'may still be written')
  await write(path)
  assert.ok(existsSync(elsewhere))
  const past = lstatSync(elsewhere).mtimeMs / 1000 - 3601
  utimesSync(elsewhere, past, past)
  await write(path)
  assert.deepEqual(readdirSync(folder), ['a.archive'])
})

test('a planted link is not followed, and nothing else is removed', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'a.archive')
  const victim = join(folder, 'victim')
  writeFileSync(victim, 'precious')
  symlinkSync(victim, `${path}.${process.pid}.partial`)
  for (const name of ['a.archive.partial', 'a.archive.x.partial', 'a.archive.1.partial.bak', 'other.1.partial']) {
    writeFileSync(join(folder, name), '')
  }
  await write(path)
  assert.equal(readFileSync(victim, 'utf8'), 'precious')
  assert.deepEqual(readdirSync(folder).toSorted(), [
    'a.archive',
    'a.archive.1.partial.bak',
    'a.archive.partial',
    'a.archive.x.partial',
    'other.1.partial',
    'victim',
  ])
})
