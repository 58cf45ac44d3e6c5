import { withOwnFeatures } from '../app/features.ts'
import { openInfrastructure } from '../app/infrastructure.ts'
import type { Settings } from './settings.ts'

export async function migrate({ config, log, extensions }: Settings): Promise<void> {
  const features = withOwnFeatures(extensions)
  const { applied, close } = await openInfrastructure({ config, log, features, isServing: false })
  await close()
  const lines =
    applied.length > 0 ? applied.map((name) => `applied ${name}`) : ['nothing to do: the schema is up to date']
  process.stdout.write(`${lines.join('\n')}\n`)
}
