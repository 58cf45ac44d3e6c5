/** The commands that make and read archives, run on a database of the test. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type Owner, share } from './api.ts'
import { createDatabaseUrl, temporaryFolder } from './databases.ts'
import { runLoaded } from './loaded-program.ts'

export const run = (url: string, ...args: string[]) => runLoaded(args, { env: { DATABASE_URL: url } })

/** An archive of a new SQLite database with so many products, for all tests of a file. */
export function shareArchive(products = 0): () => Promise<{ url: string; archive: string }> {
  return share(async (owner: Owner) => {
    const url = await createDatabaseUrl(owner, 'sqlite', { isMigrated: true })
    const archive = join(temporaryFolder(owner), 'test.archive')
    if (products > 0) assert.equal((await run(url, 'products:seed', '--count', String(products), '--quiet')).code, 0)
    assert.equal((await run(url, 'backup', archive)).code, 0)
    return { url, archive }
  })
}
