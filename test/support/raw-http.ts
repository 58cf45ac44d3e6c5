/** Requests as raw bytes, for what no client would send. */
import { connect } from 'node:net'

export interface RawResponse {
  status: number
  headers: Headers
  body: string
  /** The whole response, as received. */
  text: string
}

/** Sends the bytes, and reads until the service closes the connection. */
export async function sendRaw(url: string, request: string | Buffer): Promise<RawResponse> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  // A request refused midway may end with a reset after the response.
  socket.on('error', () => {})
  socket.write(request)
  let text = ''
  socket.setEncoding('utf8')
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('end', () => socket.end())
    socket.on('close', () => resolve())
  })
  const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s)
  const [first = '', ...lines] = head.split('\r\n')
  const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]))
  return { status: Number(first.split(' ')[1]), headers, body, text }
}
