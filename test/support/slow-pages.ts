/** An HTTP proxy that sends the second part of a page later. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Owner } from './api.ts'
import { forward } from './lossy-proxy.ts'

export interface SlowPages {
  target: string
  /** The second part begins with it. */
  cut: string
  pauseMs: number
  /** As in browsers that cannot wait for the end of a page. */
  isShownEarly?: boolean
}

/** Returns its URL. */
export async function startSlowPages(
  t: Owner,
  { target, cut, pauseMs, isShownEarly = false }: SlowPages,
): Promise<string> {
  const server = createServer(async (incoming, outgoing) => {
    const { url = '/', method = 'GET', headers } = incoming
    try {
      const plain = { ...headers, 'accept-encoding': 'identity' }
      const answer = await forward(target + url, { method, headers: plain }, Buffer.concat(await incoming.toArray()))
      const body = Buffer.concat(await answer.toArray())
      const place = answer.headers['content-type']?.startsWith('text/html') ? body.indexOf(cut) : -1
      // Of the same length, which is in a header.
      if (isShownEarly && place !== -1) body.write('rel="ignore"', body.indexOf('rel="expect"'))
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      if (place !== -1) {
        outgoing.write(body.subarray(0, place))
        await sleep(pauseMs)
      }
      outgoing.end(body.subarray(Math.max(place, 0)))
    } catch {
      outgoing.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
