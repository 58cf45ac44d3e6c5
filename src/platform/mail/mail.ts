/** Sends mail by SMTP, or writes it to the log where a developer watches. */
import type { Log } from '../log/logger.ts'

export interface Message {
  to: string
  subject: string
  text: string
}

export interface Mail {
  /** Where messages end up: in mailboxes, or in the log of a service that has no mail server. */
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

/** Undefined where there is no way to send any. */
export async function createMail({
  url,
  from = 'Latchkey <no-reply@localhost>',
  isDevelopment,
  log,
}: MailOptions): Promise<Mail | undefined> {
  if (url === undefined) return isDevelopment ? createLogMail(log) : undefined
  // Loaded only where it is needed, which many services do without.
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(
    // A server that takes the connection and says nothing is given up soon.
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
