import assert from 'node:assert/strict'
import { test } from 'node:test'
import { baseUrlOf } from './base-url.ts'

test('links begin with the public address, in development with that of the server, else with nothing', () => {
  const of = (isDevelopment: boolean, host: string, port = 3000, publicUrl: string | undefined = undefined) =>
    baseUrlOf({ isDevelopment, server: { host, port, publicUrl } })
  assert.equal(of(false, '0.0.0.0', 3000, 'https://app.example.com'), 'https://app.example.com')
  assert.equal(of(true, '0.0.0.0'), 'http://localhost:3000')
  assert.equal(of(true, '::'), 'http://localhost:3000')
  assert.equal(of(true, '::1', 8080), 'http://[::1]:8080')
  assert.equal(of(true, 'fe80::1%eth0', 8080), 'http://[fe80::1]:8080')
  assert.equal(of(true, 'box.example', 80), 'http://box.example')
  assert.equal(of(true, '0.0.0.0', 0), '', 'the port is not known')
  assert.equal(of(false, '0.0.0.0'), '')
})
