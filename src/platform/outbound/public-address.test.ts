import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canConnectTo, isPublicAddress } from './public-address.ts'

const publicAddresses = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2A00:1450:4001:0810::200e',
  '2003::1',
]

const privateAddresses = [
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '::1',
  'fc00::1',
  'fd12:3456:789a::1',
]

const specialAddresses = [
  '0.0.0.0',
  '0.1.2.3',
  '100.100.100.200',
  '168.63.129.16',
  '169.254.0.1',
  '169.254.169.254',
  '192.0.0.1',
  '192.0.0.192',
  '192.0.2.1',
  '192.31.196.1',
  '192.52.193.1',
  '192.88.99.1',
  '192.175.48.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::2',
  '::7f00:1',
  '::10.0.0.1',
  '::8.8.8.8',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::10.0.0.1',
  '100::1',
  '100:0:0:1::1',
  '1fff::1',
  '2001::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:2::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '2002:a00:1::1',
  '2002:808:808::1',
  '2606:4700::5efe:10.0.0.1',
  '2606:4700::200:5efe:10.0.0.1',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fd00:ec2::254',
  'fd00:0ec2:0::0254',
  'fd20:ce::254',
  'fe80::1',
  'fe80::1%eth0',
  '2606:4700:4700::1111%eth0',
  'fec0::1',
  'ff02::1',
]

test('addresses on the internet are public', () => {
  for (const address of publicAddresses) {
    assert.equal(isPublicAddress(address), true, address)
    assert.equal(canConnectTo(address, { allowPrivate: false }), true, address)
    assert.equal(canConnectTo(address, { allowPrivate: true }), true, address)
  }
})

test('private networks and this machine can only be connected to if that is allowed', () => {
  for (const address of privateAddresses) {
    assert.equal(isPublicAddress(address), false, address)
    assert.equal(canConnectTo(address, { allowPrivate: false }), false, address)
    assert.equal(canConnectTo(address, { allowPrivate: true }), true, address)
  }
})

test('metadata, link-local, reserved and tunnelled addresses can never be connected to', () => {
  for (const address of specialAddresses) {
    assert.equal(isPublicAddress(address), false, address)
    assert.equal(canConnectTo(address, { allowPrivate: true }), false, address)
  }
})

test('what is no address in its usual spelling is not public', () => {
  for (const text of [
    '',
    '8',
    '8.8',
    '8.8.8',
    '134744072',
    '0x8.8.8.8',
    '010.8.8.8',
    '8.8.8.8 ',
    '[2003::1]',
    'a.example',
  ]) {
    assert.equal(isPublicAddress(text), false, text)
    assert.equal(canConnectTo(text, { allowPrivate: true }), false, text)
  }
})
