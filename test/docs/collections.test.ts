/** docs/collections.md: its declaration runs, its queries are valid, and its tables name everything that there is. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { diffsOf } from '../../src/app/collections-schema.ts'
import { loadExtensions } from '../../src/app/load-extensions.ts'
import * as fields from '../../src/collections/declare/fields.ts'
import { operatorNames } from '../../src/collections/declare/rules.ts'
import { root } from '../../src/config/root.ts'
import { temporaryFolder } from '../support/databases.ts'
import { blocksOf } from '../support/docs.ts'
import { ask } from '../support/graphql.ts'
import { helpdeskSource, startHelpdesk } from '../support/helpdesk.ts'
import { startApiWithRoles } from '../support/roles.ts'

const page = readFileSync(join(root, 'docs', 'collections.md'), 'utf8')

test('the first declaration of the tutorial serves teams, and its migrations are written', async (t) => {
  const folder = temporaryFolder(t)
  const [declaration = ''] = blocksOf(page, 'ts')
  const file = join(folder, 'helpdesk.ts')
  writeFileSync(file, declaration)
  const api = await startApiWithRoles(t, { extensions: await loadExtensions([file], folder) })
  const { access } = await api.signInAs('user')
  assert.equal((await api.post('/api/teams', { name: 'Support' }, access)).status, 201)
  assert.equal((await api.get('/api/teams', access)).body.meta.total, 1)
  assert.ok(existsSync(join(folder, 'migrations', 'collections.json')))
  const source = readFileSync(helpdeskSource, 'utf8')
  const [, teams = ''] = declaration.split('export const teams = ')
  assert.ok(source.includes(teams.split('\n\nexport default')[0] as string), 'the example has the same teams')
})

test('the requests of the page are answered', async (t) => {
  const api = await startHelpdesk(t, 'sqlite')
  const [query = ''] = blocksOf(page, 'graphql')
  assert.deepEqual((await ask(api, query, { token: api.ada.access })).data, {
    tickets: { data: [], meta: { total: 0, next: null } },
  })
  const [, address = ''] = /api "(\/api\/tickets[^"]*)"/.exec(page) ?? []
  assert.equal((await api.get(address, api.ada.access)).status, 200)
  for (const [, example = ''] of page.matchAll(/`((?:filter\[|sort=|q=|include=|fields=|count=)[^`]+)`/g)) {
    assert.equal((await api.get(`/api/tickets?${example}`, api.ada.access)).status, 200, example)
  }
})

test('every kind of field and every operator of rules is on the page', () => {
  for (const kind of Object.keys(fields)) assert.ok(page.includes(`\`${kind}(`), kind)
  for (const operator of operatorNames) assert.ok(page.includes(operator), operator)
})

test('the migrations of the help desk are current', async () => {
  const features = await loadExtensions([helpdeskSource], root)
  assert.deepEqual(
    diffsOf(features).flatMap(({ changes }) => changes.map(({ text }) => text)),
    [],
  )
})
