import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { takePictures } from '../../docs/screenshots/camera.ts'
import { pictures } from '../../docs/screenshots/pictures.ts'
import { temporaryFolder } from '../support/databases.ts'

test('the pictures of docs/console.md can be taken', async (t) => {
  const folder = temporaryFolder(t)
  const taken = await takePictures(folder)
  assert.equal(taken.length, pictures.length)
  assert.deepEqual(readdirSync(folder).sort(), taken.map(({ file }) => file).sort())
})
