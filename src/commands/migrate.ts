import { openInfrastructure } from '../app/infrastructure.ts'
import { type GlobalOptions, readSettings } from './settings.ts'

export async function migrate(options: GlobalOptions): Promise<void> {
  const { applied, close } = await openInfrastructure(readSettings(options, { forService: false }))
  await close()
  const lines =
    applied.length > 0 ? applied.map((name) => `applied ${name}`) : ['nothing to do: the schema is up to date']
  process.stdout.write(`${lines.join('\n')}\n`)
}
