import type { TestContext } from 'node:test'
import { SMTPServer } from 'smtp-server'

export interface Mailbox {
  url: string
  messages: string[]
}

/** A real SMTP server on loopback that keeps what it gets. */
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
