/** An HTTP proxy that sends the second part of a page later. */
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Owner } from './api.ts'

export interface SlowPages {
  target: string
  /** The second part begins with it. */
  cut: string
  pauseMs: number
}

/** Returns its URL. */
export async function startSlowPages(t: Owner, { target, cut, pauseMs }: SlowPages): Promise<string> {
  const server = createServer(({ url = '/', method, headers }, outgoing) => {
    const options = { method, headers: { ...headers, 'accept-encoding': 'identity' }, agent: false }
    const sent = request(target + url, options, async (answer: IncomingMessage) => {
      const body = Buffer.concat(await answer.toArray())
      const place = answer.headers['content-type']?.startsWith('text/html') ? body.indexOf(cut) : -1
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      if (place !== -1) {
        outgoing.write(body.subarray(0, place))
        await sleep(pauseMs)
      }
      outgoing.end(body.subarray(Math.max(place, 0)))
    })
    sent.on('error', () => outgoing.destroy()).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
