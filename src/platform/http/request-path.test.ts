import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathOf } from './request-path.ts'

test('paths have neither the query nor the authority of the absolute form', () => {
  for (const [url, path] of [
    ['/', '/'],
    ['/api/posts/1', '/api/posts/1'],
    ['/api/posts?token=secret', '/api/posts'],
    ['http://user:secret@host:80/api/posts?token=secret', '/api/posts'],
    ['HTTPS://host', '/'],
    ['http://host?token=secret', '/'],
    ['*', '(not a path)'],
    ['host:443', '(not a path)'],
  ] as const) {
    assert.equal(pathOf(url), path)
  }
})
