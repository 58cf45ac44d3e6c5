import { join } from 'node:path'
import { root } from '../config/root.ts'
import { systemClock } from '../core/clock.ts'
import { systemRandom } from '../core/random.ts'
import { openDatabase } from '../platform/database/open.ts'
import { type GlobalOptions, readSettings } from './settings.ts'

export async function migrate(options: GlobalOptions): Promise<void> {
  const { config } = readSettings(options, { forService: false })
  const { db, applied } = await openDatabase({
    ...config.database,
    root,
    migrations: join(root, 'migrations'),
    clock: systemClock,
    random: systemRandom,
  })
  await db.close()
  const lines =
    applied.length > 0 ? applied.map((name) => `applied ${name}`) : ['nothing to do: the schema is up to date']
  process.stdout.write(`${lines.join('\n')}\n`)
}
