/** Requests that are sent without waiting for earlier responses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareApi } from '../support/api.ts'
import { sendRaw } from '../support/raw-http.ts'

const ask = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`
const countOf = (text: string, status: number) => text.split(`HTTP/1.1 ${status} `).length - 1

const shared = shareApi()

test('a normal pipeline gets all its responses in order', async () => {
  const api = await shared()
  const paths = Array.from({ length: 10 }, (_, i) => `/api/v2/products?page=${i + 1}`)
  const { text } = await sendRaw(
    api.url,
    [...paths.map((path) => ask(path)), ask('/health/live', 'connection: close\r\n')].join(''),
  )
  assert.equal(countOf(text, 200), 11)
  assert.deepEqual(
    [...text.matchAll(/"page":(\d+)/g)].map(([, page]) => Number(page)),
    paths.map((_, i) => i + 1),
  )
})

test('of a thousand requests in one packet, those that would only wait in memory are refused', async () => {
  const api = await shared()
  const { text } = await sendRaw(
    api.url,
    ask('/api/v2/products').repeat(1000) + ask('/health/live', 'connection: close\r\n'),
  )
  const [answered, refused] = [countOf(text, 200), countOf(text, 503)]
  assert.ok(refused > 0, 'some are refused')
  assert.equal(answered + refused, 1001, 'each has its answer')
  assert.match(text, /\{"error":"Service unavailable"\}/)
})
