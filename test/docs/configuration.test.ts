/** docs/configuration.md names every variable that may come from a file. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { configParts } from '../../src/app/declarations.ts'
import { ownFeatures } from '../../src/app/features.ts'
import { coreKeys } from '../../src/config/core-keys.ts'
import { isKey, leavesOf } from '../../src/config/key.ts'
import { root } from '../../src/config/root.ts'

test('the list of secrets in files is complete', () => {
  const page = readFileSync(join(root, 'docs', 'configuration.md'), 'utf8')
  const list = /names a file\nwith the value: ([^.]*)\./.exec(page)?.[1] ?? ''
  const named = [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name)
  const trees = [coreKeys, ...configParts(ownFeatures).map(({ keys = {} }) => keys)]
  const secrets = trees
    .flatMap(leavesOf)
    .filter(isKey)
    .filter(({ isSecret }) => isSecret)
  assert.deepEqual(named.sort(), secrets.map(({ variable }) => variable).sort())
})
