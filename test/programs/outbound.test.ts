/** Outbound requests over TLS, with certificates from openssl, and in a process whose environment names a proxy. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { root } from '../../src/config/root.ts'
import { createOutbound, type OutboundOptions } from '../../src/platform/outbound/outbound.ts'
import { temporaryFolder } from '../support/databases.ts'
import { getProgram } from '../support/programs.ts'

const request = { headers: {}, body: '{}', timeoutMs: 60_000 }
let key = ''
let certificate = ''

before((t) => {
  const folder = temporaryFolder(t as TestContext)
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const names = ['-subj', '/CN=test', '-addext', 'subjectAltName=DNS:hooks.example.com,IP:127.0.0.1']
  const files = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-keyout',
    keyFile,
    '-out',
    certificateFile,
  ]
  execFileSync(getProgram('openssl'), ['req', '-x509', '-nodes', ...names, ...files], { stdio: 'ignore' })
  key = readFileSync(keyFile, 'utf8')
  certificate = readFileSync(certificateFile, 'utf8')
})

function open(t: TestContext, options: Partial<OutboundOptions> = {}) {
  const outbound = createOutbound({
    allowPrivate: true,
    ca: certificate,
    resolve: async () => ['127.0.0.1'],
    ...options,
  })
  t.after(() => outbound.close())
  return outbound
}

async function listen(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

async function serveTls(t: TestContext) {
  const connections: { name: string | false | null; isReused: boolean }[] = []
  const server = createServer({ key, cert: certificate }, (_incoming, response) => response.end('thanks'))
  server.on('secureConnection', (socket: TLSSocket & { servername?: string | false }) =>
    connections.push({ name: socket.servername ?? null, isReused: socket.isSessionReused() }),
  )
  return { port: await listen(t, server), connections }
}

test('the certificate is checked for the name, while the connection goes to the address', async (t) => {
  const { port, connections } = await serveTls(t)
  const outbound = open(t)
  for (const host of ['hooks.example.com', 'hooks.example.com', '127.0.0.1']) {
    const { status, body, address } = await outbound.post(`https://${host}:${port}/`, request)
    assert.deepEqual({ status, body, address }, { status: 200, body: 'thanks', address: '127.0.0.1' })
  }
  assert.deepEqual(connections, [
    { name: 'hooks.example.com', isReused: false },
    { name: 'hooks.example.com', isReused: false },
    { name: false, isReused: false },
  ])
})

test('certificates that are not trusted, or are for another name, are refused', async (t) => {
  const { port } = await serveTls(t)
  const trusting = open(t)
  await assert.rejects(trusting.post(`https://other.example.com:${port}/`, request), {
    code: 'tls',
    message: 'The certificate is for another host name',
  })
  const { ca: _, ...byDefault } = { ca: '' }
  const outbound = createOutbound({ allowPrivate: true, resolve: async () => ['127.0.0.1'], ...byDefault })
  await assert.rejects(outbound.post(`https://hooks.example.com:${port}/`, request), {
    code: 'tls',
    message: 'The certificate is not from a trusted authority',
  })
})

test('a server without TLS, and one that does not go on with it, are told apart', async (t) => {
  const plain = await listen(
    t,
    createHttpServer((_incoming, response) => response.end()),
  )
  await assert.rejects(open(t).post(`https://hooks.example.com:${plain}/`, request), {
    code: 'tls',
    message: 'No secure connection could be made',
  })
  const reset = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.resetAndDestroy())
  })
  const resetting = open(t).post(`https://hooks.example.com:${await listen(t, reset)}/`, request)
  await assert.rejects(resetting, { code: 'connection' })
  const silent = await listen(t, createTcpServer())
  const waiting = open(t).post(`https://hooks.example.com:${silent}/`, { ...request, timeoutMs: 300 })
  await assert.rejects(waiting, { code: 'timeout' })
})

/** Sends as the service does, and with Node's own agent for comparison, then ends by itself. */
const program = `
import { get } from 'node:http'
import { createOutbound } from './src/platform/outbound/outbound.ts'
const [plainUrl, tlsUrl] = process.argv.slice(1)
const outbound = createOutbound({ allowPrivate: true })
const post = (url) => outbound.post(url, { headers: {}, body: '{}', timeoutMs: 60_000 })
const tried = [
  await post(plainUrl).then(({ body }) => body),
  await post(tlsUrl).catch(({ code }) => code),
  await new Promise((resolve) => get(plainUrl, (response) => response.once('data', (data) => resolve(String(data))))),
]
process.stdout.write(JSON.stringify(tried))
`

test('neither a proxy of the environment nor a switch to skip the check of certificates applies', async (t) => {
  const answer = (text: string) => createHttpServer((_incoming, response) => response.end(text))
  const proxy = `http://127.0.0.1:${await listen(t, answer('proxy'))}`
  const plain = `http://127.0.0.1:${await listen(t, answer('receiver'))}/`
  const { port } = await serveTls(t)
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module-typescript', '--eval', program, plain, `https://127.0.0.1:${port}/`],
    {
      cwd: root,
      env: {
        ...process.env,
        NODE_USE_ENV_PROXY: '1',
        NO_PROXY: '',
        HTTP_PROXY: proxy,
        HTTPS_PROXY: proxy,
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
        NODE_NO_WARNINGS: '1',
      },
    },
  )
  assert.deepEqual(JSON.parse(stdout), ['receiver', 'tls', 'proxy'])
})
