import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOutbound } from './outbound.ts'
import { refuseUrl } from './refuse-url.ts'

/** Ways to point a request at the inside of the network, or to hide where it goes. */
const hostileUrls = [
  // Addresses
  'https://127.0.0.1/',
  'https://127.255.255.254/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://100.100.100.200/latest/meta-data/',
  'https://168.63.129.16/machine',
  'https://192.0.0.192/opc/v2/',
  'https://0.0.0.0/',
  'https://198.18.0.1/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::FFFF:7F00:1]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:0:127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b:1::a00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:0:7f00:1::]/',
  'https://[2001:db8::1]/',
  'https://[fc00::1]/',
  'https://[fd00:ec2::254]/latest/meta-data/',
  'https://[fe80::1]/',
  'https://[fe80::1%25eth0]/',
  'https://[fe80::1%eth0]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  // Spellings of addresses
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://127.1/',
  'https://127.0.1/',
  'https://127.0.0.1./',
  'https://0/',
  'https://0x0a.0.0.0x1/',
  'https://4294967297/',
  'https://134744072/',
  'https://0x8.8.8.8/',
  'https://１２７.0.0.1/',
  'https://127。0。0。1/',
  'https://①②⑦.⓪.⓪.①/',
  'https://٣.0.0.1/',
  'https://%31%32%37.0.0.1/',
  'https://ex%61mple.com/',
  'https://127.0.0.1%2f@example.com/',
  // Names
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://localhost:8443/',
  'https://ｌocalhost/',
  'https://ｅxample.com/',
  'https://local\u00adhost/',
  'https://loc%61lhost/',
  'https://a.localhost/',
  'https://example.com.localhost/',
  'https://metadata.google.internal/computeMetadata/v1/',
  'https://METADATA.GOOGLE.INTERNAL/',
  'https://metadata.google.internal./',
  'https://metadata/',
  'https://intranet/',
  'https://kubernetes.default.svc.cluster.local/',
  'https://printer.local/',
  'https://router.lan/',
  'https://nas.home.arpa/',
  'https://example.com./',
  // Schemes
  'http://example.com/',
  'HTTP://example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:6379/_FLUSHALL',
  'javascript:alert(1)',
  'data:text/plain,x',
  'unix:/run/docker.sock',
  'blob:https://example.com/x',
  'ws://example.com/',
  'https:example.com',
  'https:/example.com/',
  'https:\\\\example.com\\',
  '//example.com/',
  'example.com',
  '',
  // What parsers read differently
  'https://user@example.com/',
  'https://user:password@example.com/',
  'https://@example.com/',
  'https://example.com@127.0.0.1/',
  'https://127.0.0.1@example.com/',
  'https://127.0.0.1:443@example.com/',
  'https://example.com#@127.0.0.1/',
  'https://127.0.0.1#@example.com/',
  'https://example.com/#',
  'https://example.com\\@127.0.0.1/',
  'https://127.0.0.1\\.example.com/',
  'https://example.com/\\..\\',
  ' https://example.com/',
  'https://example.com/ ',
  'https://exa\tmple.com/',
  'https://127.0.\n0.1/',
  'https://example.com/\r\nx: y',
  'https://example.com/\u0000',
  'https://example.com/\u00a0',
  'https://example.com/\ud800',
  'https:///127.0.0.1/',
  'https:////example.com/',
  'https://',
  'https://?',
  'https://[::1/',
  'https://::1/',
  'https://a..b@/',
  'https://exa mple.com/',
  'https://example.com<script>/',
  // Ports
  'https://example.com:0/',
  'https://example.com:22/',
  'https://example.com:25/',
  'https://example.com:65536/',
  'https://example.com:-1/',
  'https://example.com:4.3/',
  // Length
  `https://example.com/${'a'.repeat(2000)}`,
]

test('more than a hundred ways to point a webhook at the inside are refused, before and when it is sent', async (t) => {
  assert.ok(hostileUrls.length > 100)
  assert.equal(new Set(hostileUrls).size, hostileUrls.length)
  const asked: string[] = []
  const outbound = createOutbound({
    allowPrivate: false,
    resolve: async (host) => {
      asked.push(host)
      return []
    },
  })
  t.after(() => outbound.close())
  for (const url of hostileUrls) {
    const problem = refuseUrl(url, { allowPrivate: false })
    assert.match(problem ?? 'accepted', /^Must [^\n]{1,100}[^.]$/, url)
    const post = outbound.post(url, { headers: {}, body: '', timeoutMs: 60_000 })
    await assert.rejects(post, { name: 'OutboundError', code: 'refused_address' }, url)
  }
  assert.deepEqual(asked, [], 'no name server was asked')
})

test('URLs on the internet are accepted', () => {
  for (const url of [
    'https://example.com',
    'https://example.com/',
    'HTTPS://Example.COM/Hooks?token=%20a@b:c',
    'https://example.com:443/',
    'https://example.com:80/',
    'https://example.com:1024/',
    'https://example.com:65535/',
    'https://8.8.8.8/',
    'https://8.8.8.8:8443/',
    'https://[2606:4700:4700::1111]/',
    'https://[2606:4700:4700:0::1111]:8443/x',
    'https://bücher.example/',
    'https://xn--bcher-kva.example/',
    'https://例え.テスト/',
    'https://localhost.example.com/',
    'https://internal.example.com/',
    'https://10.0.0.1.example.com/',
    'https://a_b.example.com/é/?q=ü',
    `https://example.com/${'a'.repeat(1980)}`,
  ]) {
    assert.equal(refuseUrl(url, { allowPrivate: false }), undefined, url)
    assert.equal(refuseUrl(url, { allowPrivate: true }), undefined, url)
  }
})

test('http and the inside are accepted if that is allowed', () => {
  for (const url of [
    'http://127.0.0.1:3000/hooks',
    'http://localhost:3000/',
    'http://[::1]:3000/',
    'http://10.0.0.7/',
    'http://receiver:8080/',
    'https://hooks.corp/',
  ]) {
    assert.equal(refuseUrl(url, { allowPrivate: true }), undefined, url)
    assert.notEqual(refuseUrl(url, { allowPrivate: false }), undefined, url)
  }
})

test('credentials of the cloud and hidden hosts are refused even if the inside is allowed', () => {
  for (const url of [
    'http://169.254.169.254/latest/meta-data/',
    'http://168.63.129.16/machine',
    'http://100.100.100.200/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://[::ffff:169.254.169.254]/',
    'http://0.0.0.0:3000/',
    'http://2130706433/',
    'http://user:password@127.0.0.1:3000/',
    'http://127.0.0.1:3000/#x',
    'http://127.0.0.1:22/',
    'ftp://127.0.0.1:3000/',
  ]) {
    assert.match(refuseUrl(url, { allowPrivate: true }) ?? 'accepted', /^Must /, url)
  }
})
