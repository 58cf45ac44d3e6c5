import assert from 'node:assert/strict'
import { test } from 'node:test'
import { patternOf } from './route-pattern.ts'

test('a route is called by its pattern, without regular expressions', () => {
  for (const [url, pattern] of [
    ['/products', '/products'],
    ['/products/:id(^[0-9]+$)', '/products/:id'],
    ['/products/:id(^[0-9]+$)/images/:image(^(a|b)\\)$)', '/products/:id/images/:image'],
    ['/from/:a(^x$)-:b(^y$)', '/from/:a-:b'],
    ['/name::verb', '/name::verb'],
    ['/files/*', '/files/*'],
    ['', ''],
  ] as const) {
    assert.equal(patternOf(url), pattern)
  }
})
