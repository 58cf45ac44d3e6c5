import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rateKey } from './limiter.ts'

test('IPv4 addresses count one by one, IPv6 by their /64, however they are written', () => {
  assert.equal(rateKey('203.0.113.7'), '203.0.113.7')
  assert.equal(rateKey('::ffff:203.0.113.7'), '203.0.113.7')
  const same = ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:0db8:0001:0002::', '2001:DB8:1:2::1%eth0']
  assert.equal(new Set(same.map(rateKey)).size, 1)
  assert.notEqual(rateKey('2001:db8:1:2::1'), rateKey('2001:db8:1:3::1'))
  assert.equal(rateKey('::1'), rateKey('0:0:0:0::2'))
  assert.notEqual(rateKey('fe80::1'), rateKey('::1'))
  for (const mapped of ['::ffff:cb00:7107', '0:0:0:0:0:ffff:203.0.113.7', '[::ffff:203.0.113.7]:80']) {
    assert.equal(rateKey(mapped), '203.0.113.7', mapped)
  }
  assert.equal(rateKey('203.0.113.7:5555'), '203.0.113.7', 'a port is no way to another share')
  assert.equal(rateKey('[2001:db8:1:2::1]:5555'), rateKey('2001:db8:1:2::9'))
  assert.equal(rateKey('user 7'), 'user 7')
})
