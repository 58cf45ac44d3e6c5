/** A real SMTP server on loopback that keeps what it gets. */
import assert from 'node:assert/strict'
import { SMTPServer } from 'smtp-server'
import { type Api, type ApiOptions, type Owner, startApi } from './api.ts'
import { eventually } from './eventually.ts'

export interface Mailbox {
  url: string
  messages: string[]
  /** The reply to a mail to this address, such as `550 No such user`. Undefined: it is accepted. */
  refusalOf: (address: string) => string | undefined
  /** False: mails are received, and never replied to. */
  replies: boolean
}

export async function startSmtp(t: Owner): Promise<Mailbox> {
  const mailbox: Mailbox = { url: '', messages: [], refusalOf: () => undefined, replies: true }
  const { messages } = mailbox
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo({ address }, _session, done) {
      const [code, ...words] = mailbox.refusalOf(address)?.split(' ') ?? []
      done(code === undefined ? null : Object.assign(new Error(words.join(' ')), { responseCode: Number(code) }))
    },
    onData(stream, _session, done) {
      let text = ''
      stream.on('data', (chunk) => {
        text += chunk
      })
      stream.on('end', () => {
        messages.push(text.replaceAll('=\r\n', '').replaceAll('=3D', '='))
        if (mailbox.replies) done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const { port } = server.server.address() as { port: number }
  mailbox.url = `smtp://127.0.0.1:${port}`
  return mailbox
}

/** A service that sends mail there. */
export async function startWithMail(t: Owner, engine: 'sqlite' | 'postgres', more: Record<string, string> = {}) {
  return startMailing(t, engine, more, startApi)
}

export async function startMailing<T extends Api>(
  t: Owner,
  engine: 'sqlite' | 'postgres',
  more: Record<string, string>,
  start: (t: Owner, options: ApiOptions) => Promise<T>,
) {
  const mailbox = await startSmtp(t)
  const env = {
    MAIL_URL: mailbox.url,
    PUBLIC_URL: 'https://app.example.com',
    MAIL_FROM: 'Us <us@example.com>',
    RATE_LIMIT_RESET: '1000/60',
    ...more,
  }
  return { api: await start(t, { engine, env }), mailbox }
}

export async function waitForMails({ messages }: Mailbox, count: number): Promise<void> {
  await eventually(() => assert.equal(messages.length, count))
}

/** Tokens from mails, such as `Reset token: …`, oldest first. Other mails, such as the notice of a lock, are skipped. */
export function mailedTokens({ messages }: Mailbox, kind: string, to = ''): string[] {
  return messages
    .filter((text) => text.includes(`To: ${to}`))
    .flatMap((text) => /^[\w-]+/.exec(text.split(`${kind} token: `)[1] ?? '')?.[0] ?? [])
}

/** The token that the newest mail holds. */
export async function mailedToken(mailbox: Mailbox, kind: string, ask: () => Promise<unknown>): Promise<string> {
  const before = mailedTokens(mailbox, kind).length
  await ask()
  await eventually(() => assert.equal(mailedTokens(mailbox, kind).length, before + 1))
  return mailedTokens(mailbox, kind).at(-1) ?? ''
}

/** Proves that the address is the user's, by the link of a mail. */
export async function verifyEmail(api: Api, mailbox: Mailbox, access: string): Promise<void> {
  const token = await mailedToken(mailbox, 'Verification', () =>
    api.post('/api/auth/email/verification', undefined, access),
  )
  assert.equal((await api.post('/api/auth/email/verify', { token }, access)).status, 200)
}
