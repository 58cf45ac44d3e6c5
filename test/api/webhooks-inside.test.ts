/** Where webhooks must not lead. Independent of the database. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApiWithRoles } from '../support/roles.ts'

const path = '/api/admin/webhooks'

const inside = [
  'http://example.com/',
  'https://localhost/',
  'https://LOCALHOST:8443/',
  'https://localhost./',
  'https://app.localhost/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://127.0.0.53:8443/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://192.168.1.1/',
  'https://100.64.0.1/',
  'https://100.100.100.200/latest/meta-data/',
  'https://169.254.169.254/latest/meta-data/',
  'https://168.63.129.16/',
  'https://192.0.0.192/',
  'https://198.18.0.1/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:0:a::1]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://metadata.google.internal/',
  'https://printer.local/',
  'https://router/',
  'https://example.com@127.0.0.1/',
  'https://user:secret@example.com/',
  'https://127.0.0.1%2f@example.com/',
  'https://１２７.０.０.１/',
  'https://127。0。0。1/',
  'https://①②⑦.⓪.⓪.①/',
  'https://ⓛocalhost/',
  'https://127.0.0.1\t/',
  'https:\\\\127.0.0.1/',
  'https://example.com:25/',
  'file:///etc/passwd',
  'gopher://127.0.0.1/',
  'javascript:alert(1)',
  '//127.0.0.1/',
]

test('a webhook cannot be pointed at the inside of the network', async (t) => {
  const api = await startApiWithRoles(t, { env: { WEBHOOKS_ALLOW_PRIVATE: 'false' } })
  const { access } = await api.signInAs('admin')
  for (const url of inside) {
    const { status, body } = await api.post(path, { url, types: ['*'] }, access)
    assert.equal(status, 422, url)
    assert.deepEqual(Object.keys(body.details), ['url'], url)
  }
  assert.deepEqual((await api.get(path, access)).body.data, [])
  const made = await api.post(path, { url: 'https://hooks.example.com/latchkey', types: ['*'] }, access)
  assert.equal(made.status, 201)
  const { id } = made.body.data
  assert.equal((await api.put(`${path}/${id}`, { url: 'https://127.0.0.1/' }, access)).status, 422)
  // What was allowed once is checked again before it is sent.
  const sql = "UPDATE webhooks SET url = 'https://127.0.0.1/' WHERE id = $1"
  await api.db.write({ sql, params: [id] })
  const { data } = (await api.post(`${path}/${id}/test`, {}, access)).body
  assert.deepEqual([data.status, data.response_status], ['failed', null])
  assert.match(data.error, /public internet/)
})
