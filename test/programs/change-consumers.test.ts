/** The programs of docs/changes.md keep a copy of the table, whatever happens to them and to the service. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../support/databases.ts'
import { startProxy } from '../support/proxy.ts'
import { createPrograms, startRestartable } from '../support/table-copies.ts'

onEachEngine('a copy of the table', (engine) => {
  test('is kept for ever by following the log, in TypeScript and in Python', async (t) => {
    const service = await startRestartable(t, engine)
    const proxy = await startProxy(t, service.api().url)
    const programs = createPrograms(t, 'follow', () => ({ LATCHKEY_URL: proxy.url.replace(/\/$/, '') }))
    const assertEqual = () => programs.assertEqual(service.table)

    await service.fill(210)
    service.disturbListings(true)
    programs.start()
    await assertEqual()
    assert.ok(service.disturbances() >= 6, 'products were deleted and restored between two pages')
    service.disturbListings(false)

    await service.change('while they follow')
    for (const connection of proxy.open()) connection.end()
    await service.change('after the connections were cut')
    await assertEqual()

    await service.restart()
    await service.change('after a restart of the service')
    await assertEqual()

    await programs.kill()
    await service.change('while they were killed')
    programs.start()
    await assertEqual()

    await programs.kill()
    await service.change('before the log was cut')
    await service.forgetLog()
    await service.restart()
    const listings = service.listings()
    programs.start()
    await assertEqual()
    assert.ok(service.listings() > listings, 'their cursors had expired, so they listed again')
    await service.change('at last')
    await assertEqual()
  })
})
