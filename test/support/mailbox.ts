/** A real SMTP server on loopback that keeps what it gets. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { type Api, startApi } from './api.ts'
import { eventually } from './eventually.ts'

export interface Mailbox {
  url: string
  messages: string[]
}

export async function startSmtp(t: TestContext): Promise<Mailbox> {
  const messages: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      let text = ''
      stream.on('data', (chunk) => {
        text += chunk
      })
      stream.on('end', () => {
        messages.push(text.replaceAll('=\r\n', '').replaceAll('=3D', '='))
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const { port } = server.server.address() as { port: number }
  return { url: `smtp://127.0.0.1:${port}`, messages }
}

/** A service that sends mail there. */
export async function startWithMail(t: TestContext, engine: 'sqlite' | 'postgres', more: Record<string, string> = {}) {
  const mailbox = await startSmtp(t)
  const env = {
    MAIL_URL: mailbox.url,
    PUBLIC_URL: 'https://app.example.com',
    MAIL_FROM: 'Us <us@example.com>',
    RATE_LIMIT_RESET: '1000/60',
    ...more,
  }
  return { api: await startApi(t, { engine, env }), mailbox }
}

export async function waitForMails({ messages }: Mailbox, count: number): Promise<void> {
  await eventually(() => assert.equal(messages.length, count))
}

/** The token that the newest mail holds, such as `Reset token: …`. */
export async function mailedToken(mailbox: Mailbox, kind: string, ask: () => Promise<unknown>): Promise<string> {
  // Other mails may arrive in between, such as the notice of a lock.
  const tokens = () =>
    mailbox.messages.flatMap((text) => /^[\w-]+/.exec(text.split(`${kind} token: `)[1] ?? '')?.[0] ?? [])
  const before = tokens().length
  await ask()
  await eventually(() => assert.equal(tokens().length, before + 1))
  return tokens().at(-1) ?? ''
}

/** Proves that the address is the user's, by the link of a mail. */
export async function verifyEmail(api: Api, mailbox: Mailbox, access: string): Promise<void> {
  const token = await mailedToken(mailbox, 'Verification', () =>
    api.post('/api/auth/email/verification', undefined, access),
  )
  assert.equal((await api.post('/api/auth/email/verify', { token })).status, 200)
}
