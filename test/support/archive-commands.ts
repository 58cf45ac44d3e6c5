/** The commands that make and read archives, run on a database of the test. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createDatabaseUrl, temporaryFolder } from './databases.ts'
import { runLoaded } from './loaded-program.ts'

export const run = (url: string, ...args: string[]) => runLoaded(args, { env: { DATABASE_URL: url } })

/** An archive of a new SQLite database with so many products. */
export async function createArchive(t: TestContext, products = 0): Promise<{ url: string; archive: string }> {
  const url = await createDatabaseUrl(t, 'sqlite')
  const archive = join(temporaryFolder(t), 'test.archive')
  const filling = products > 0 ? ['products:seed', '--count', String(products), '--quiet'] : ['migrate']
  assert.equal((await run(url, ...filling)).code, 0)
  assert.equal((await run(url, 'backup', archive)).code, 0)
  return { url, archive }
}
