import { diffsOf, writeDiffs } from '../app/collections-schema.ts'
import { withOwnFeatures } from '../app/features.ts'
import { requireTargets } from '../collections/collection.ts'
import { root } from '../config/root.ts'
import { systemClock } from '../core/clock.ts'
import { exitCodes, FatalError } from '../core/fatal-error.ts'
import { systemRandom } from '../core/random.ts'
import type { Settings } from './settings.ts'

const rollingAdvice =
  'nodes of the previous release cannot use renamed and dropped fields: to deploy without stopping them, see "Rolling deployments" in docs/collections.md'

export async function collectionsDiff({ config, extensions }: Settings, { name }: { name?: string }): Promise<void> {
  if (name !== undefined && !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) {
    throw new FatalError('--name must be lower-case words, joined by hyphens', exitCodes.usage)
  }
  const features = withOwnFeatures(extensions)
  requireTargets(features)
  const diffs = diffsOf(features)
  const written: string[] = []
  await writeDiffs(diffs, {
    database: { ...config.database, poolSize: 1, root, clock: systemClock, random: systemRandom },
    ...(name !== undefined && { name }),
    onWritten: (migration) => void written.push(migration),
  })
  const changes = diffs.flatMap((diff) =>
    diff.changes.flatMap(({ collection, text }) => (text === '' ? [] : [`${collection}: ${text}`])),
  )
  const breaksOldNodes = diffs.some((diff) => diff.changes.some((change) => change.breaksOldNodes))
  const lines =
    diffs.length === 0
      ? ['nothing to do: the migrations make what is declared']
      : [...changes, ...written.map((each) => `wrote ${each}`), ...(breaksOldNodes ? [rollingAdvice] : [])]
  process.stdout.write(`${(lines.length > 0 ? lines : ['updated the snapshot']).join('\n')}\n`)
}
