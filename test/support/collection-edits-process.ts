/** Writes and applies the migrations of a draft, like a start in development. See collection-edits.ts. */
import { diffsOf, writeDiffs } from '../../src/app/collections-schema.ts'
import { declaredBy } from '../../src/app/declarations.ts'
import { ownFeatures } from '../../src/app/features.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { type Draft, declare, declaredAs } from './collection-edits.ts'
import { openOptions } from './migrations.ts'

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.on('message', async ({ folder, url, draft }: { folder: string; url: string; draft: Draft }) => {
  const feature = declare(folder, declaredAs(draft))
  const database = { ...openOptions({ url, migrations: [] }), poolSize: 1 }
  await writeDiffs(diffsOf([feature]), { database, onWritten() {} })
  const { migrations } = declaredBy([...ownFeatures, feature])
  const { db } = await openDatabase(openOptions({ url, migrations }))
  await db.close()
})
process.send?.('ready')
