/** Writes continuously from 32 callers, and adds each name to a second file once its write is acknowledged. */
import { openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { openDatabase } from '../../src/platform/database/open.ts'
import { openOptions, writeMigrations } from '../support/migrations.ts'

const [, , file = '', notes = ''] = process.argv
const acknowledged = openSync(notes, 'a')
const migrations = writeMigrations(dirname(file), {
  '0001-names': 'CREATE TABLE names (name TEXT PRIMARY KEY); CREATE TABLE twins (twin TEXT PRIMARY KEY);',
})
const { db } = await openDatabase(openOptions({ url: `file:${file}`, migrations }))

await Promise.all(
  Array.from({ length: 32 }, async (_, caller) => {
    for (let i = 0; ; i++) {
      const name = `${caller}-${i}`
      await db.write(
        { sql: 'INSERT INTO names (name) VALUES ($1)', params: [name] },
        { sql: 'INSERT INTO twins (twin) VALUES ($1)', params: [`${name}-twin`] },
      )
      writeSync(acknowledged, `${name}\n`)
    }
  }),
)
