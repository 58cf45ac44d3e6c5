/** Creates 100 products a second until it is stopped: URL, TOKEN and BODY. Prints a line after the first one. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from './http.ts'

const perSecond = 100
const { URL: url = '', TOKEN: token = '', BODY: body = '{}' } = process.env
const { send } = createClient(url, { connections: 16 })
const json = JSON.parse(body) as object
const start = performance.now()

for (let i = 0; ; i++) {
  await sleep(Math.max(0, start + (i * 1000) / perSecond - performance.now()))
  void send('POST', '/api/v2/products', { json, token }).then(({ status }) => {
    if (status !== 201) throw new Error(`a create returned ${status}`)
    if (i === 0) process.stdout.write('writing\n')
  })
}
