import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAddressRange, parseAddress, withoutPort } from './addresses.ts'

test('a port is taken off, and nothing else', () => {
  for (const [text, address] of [
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:5555', '203.0.113.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:5555', '2001:db8::1'],
    ['[2001:db8::1]x', '[2001:db8::1]x'],
    ['unknown', 'unknown'],
  ] as const) {
    assert.equal(withoutPort(text), address)
  }
})

test('one address is one, however it is written', () => {
  for (const [text, address] of [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['2001:0DB8::0:1', '2001:db8::1'],
    ['fe80::1%eth0.100', 'fe80::1'],
    ['64:ff9b::203.0.113.7', '64:ff9b::cb00:7107'],
  ] as const) {
    assert.equal(String(parseAddress(text)), address)
  }
})

test('what programs read in different ways is no address', () => {
  for (const text of ['', '1', '127.1', '0177.0.0.1', '0x7f.0.0.1', '256.0.0.1', '1.2.3.4:80', '::1::', 'unknown']) {
    assert.equal(parseAddress(text), undefined, text)
    assert.equal(isAddressRange(text), false, text)
  }
})

test('a range has an address and a prefix that fits it', () => {
  for (const text of ['10.0.0.0/8', '10.0.0.1', '10.0.0.1/32', '::1', 'fc00::/7', '::1/128', '::ffff:10.0.0.0/104']) {
    assert.equal(isAddressRange(text), true, text)
  }
  for (const text of ['10.0.0.0/0', '10.0.0.0/33', '::/0', '::/129', '10.0.0.0/', '10.0.0.0/8/8', '10/8', '/8']) {
    assert.equal(isAddressRange(text), false, text)
  }
})
