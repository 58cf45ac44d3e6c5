import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathOf, recordedPathOf } from './request-path.ts'

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

test('keys and tokens that somebody puts into a path are not recorded', () => {
  const key = `lk_${'aB3'.repeat(13)}z`
  for (const [url, path] of [
    [`/${key}`, '/(redacted)'],
    [`/api/${key}/x?key=${key}`, '/api/(redacted)/x'],
    [`/${key.slice(0, 20)}`, '/(redacted)'],
    ['/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', '/(redacted)'],
    [`/reset/${'x'.repeat(43)}`, '/reset/(redacted)'],
    ['/whsec_c2VjcmV0c2VjcmV0', '/(redacted)'],
    ['/api/v2/products/1', '/api/v2/products/1'],
    ['/console/assets/change-socket.js', '/console/assets/change-socket.js'],
  ] as const) {
    assert.equal(recordedPathOf(url), path)
  }
})
