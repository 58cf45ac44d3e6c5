/** Keeps the copy by receiving webhooks. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { apply, list, readPlace } from './copy.ts'

const secret = process.env.WEBHOOK_SECRET ?? ''
if (!secret.startsWith('whsec_')) throw new Error('WEBHOOK_SECRET must be the secret of the webhook: whsec_…')
const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
const maxAgeSeconds = 300

function isGenuine(id: string, timestamp: string, signatures: string, body: string): boolean {
  const age = Math.abs(Date.now() / 1000 - Number(timestamp))
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
  // Two signatures while a secret is being replaced.
  return signatures.split(' ').some((each) => {
    const given = Buffer.from(each.replace(/^v1,/, ''), 'base64')
    return age <= maxAgeSeconds && given.length === expected.length && timingSafeEqual(given, expected)
  })
}

// Changes that were made since the webhook was created are sent again and again until they are taken.
if (readPlace() === undefined) await list()

const server = createServer(async (request, response) => {
  const body = (await request.setEncoding('utf8').toArray()).join('')
  const header = (name: string) => String(request.headers[`webhook-${name}`])
  if (!isGenuine(header('id'), header('timestamp'), header('signature'), body)) return response.writeHead(401).end()
  const { type, data } = JSON.parse(body)
  // The id of a message about a product ends with the version: msg_5f3a9c0d_7.
  if (type.startsWith('product.')) apply({ version: Number(header('id').split('_')[2] ?? 0), type, data })
  return response.writeHead(204).end()
})
server.listen(Number(process.env.PORT ?? 8080))
