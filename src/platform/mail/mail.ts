/** Delivers mail by SMTP, or writes it to the log in development. */
import type { Log } from '../log/logger.ts'

export interface Message {
  to: string
  subject: string
  text: string
}

export interface MailTransport {
  delivery: 'mail' | 'log'
  /** A mail that is sent twice has the same id both times. */
  send(id: number, message: Message): Promise<void>
  close(): void
}

export interface MailTransportOptions {
  url: string | undefined
  from: string | undefined
  isDevelopment: boolean
  log: Log
}

const defaultFrom = 'Latchkey <no-reply@localhost>'

/** Returns undefined if there is no way to send mail. */
export function createMailTransport(options: MailTransportOptions): MailTransport | undefined {
  const { url, isDevelopment, log } = options
  if (url !== undefined) return createSmtpTransport(url, options.from ?? defaultFrom)
  return isDevelopment ? createLogTransport(log) : undefined
}

function createSmtpTransport(url: string, from: string): MailTransport {
  const host = /@([^\s>]+)/.exec(from)?.[1] ?? 'localhost'
  let opening: ReturnType<typeof open> | undefined
  /** Loaded on demand; many processes send no mail. */
  async function open() {
    const { createTransport } = await import('nodemailer')
    return createTransport(
      // Short timeouts, for servers that accept a connection and then hang.
      { url, connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 15_000 },
      { from, disableFileAccess: true, disableUrlAccess: true },
    )
  }
  return {
    delivery: 'mail',
    async send(id, message) {
      opening ??= open()
      await (await opening).sendMail({ ...message, messageId: `<${id}@${host}>` })
    },
    close: () => void opening?.then((transport) => transport.close()),
  }
}

function createLogTransport(log: Log): MailTransport {
  return {
    delivery: 'log',
    async send(_id, { to, subject, text }) {
      log.info({ to, subject }, `mail (no mail.url is set, so it is shown here):\n${text}`)
    },
    close() {},
  }
}

/** The server refused this mail for good. Errors of the connection or of signing in pass, or are repaired. */
export function isPermanentFailure(error: unknown): boolean {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown }
  const isOfMessage = code === 'EENVELOPE' || code === 'EMESSAGE'
  return isOfMessage && (responseCode === undefined || (typeof responseCode === 'number' && responseCode >= 500))
}
