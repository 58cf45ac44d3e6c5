import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toPath } from './build.ts'

test('paths of the router read as paths of OpenAPI', () => {
  for (const [url, path] of [
    ['/users/:id', '/users/{id}'],
    ['/users/:id(^\\d+$)/roles', '/users/{id}/roles'],
    ['/users/:id((a|b))', '/users/{id}'],
    ['/from/:a-:b', '/from/{a}-{b}'],
    ['/users/:id?', '/users/{id}'],
    ['/name::verb', '/name:verb'],
    ['/files/*', '/files/{wildcard}'],
    ['*', '/{wildcard}'],
    ['', '/'],
  ] as const) {
    assert.equal(toPath(url), path)
  }
})
