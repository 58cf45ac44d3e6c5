/** Sends mail by SMTP, or writes it to the log in development. */
import type { Log } from '../log/logger.ts'

export interface Message {
  to: string
  subject: string
  text: string
}

export interface Mail {
  delivery: 'mail' | 'log'
  send(message: Message): Promise<void>
  close(): Promise<void>
}

export interface MailOptions {
  url: string | undefined
  from: string | undefined
  isDevelopment: boolean
  log: Log
}

/** Returns undefined if there is no way to send mail. */
export async function createMail({
  url,
  from = 'Latchkey <no-reply@localhost>',
  isDevelopment,
  log,
}: MailOptions): Promise<Mail | undefined> {
  if (url === undefined) return isDevelopment ? createLogMail(log) : undefined
  // Loaded on demand; many installations have no mail server.
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(
    // Short timeouts, for servers that accept a connection and then hang.
    { url, connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 15_000 },
    { from, disableFileAccess: true, disableUrlAccess: true },
  )
  return {
    delivery: 'mail',
    async send(message) {
      await transport.sendMail(message)
    },
    close: async () => transport.close(),
  }
}

function createLogMail(log: Log): Mail {
  return {
    delivery: 'log',
    async send({ to, subject, text }) {
      log.info({ to, subject }, `mail (no mail.url is set, so it is shown here):\n${text}`)
    },
    close: async () => {},
  }
}
