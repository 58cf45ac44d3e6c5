/**
 * Frames of text as RFC 6455, section 5.2, has them: whole, unmasked, uncompressed. Written here and not by the library,
 * so that a value is turned into bytes once, however many sockets it goes to.
 */
const wholeText = 0x81

/** A whole frame. Every socket may be handed the same one. */
export function frameOf(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const start = headLength(length)
  const frame = Buffer.allocUnsafe(start + length)
  writeHead(frame, length)
  frame.write(text, start)
  return frame
}

/** The beginning of a frame of which `restLength` bytes, shared with others, follow. */
export function beginFrame(text: string, restLength: number): Buffer {
  const own = Buffer.byteLength(text)
  const start = headLength(own + restLength)
  const frame = Buffer.allocUnsafe(start + own)
  writeHead(frame, own + restLength)
  frame.write(text, start)
  return frame
}

function headLength(length: number): number {
  if (length < 126) return 2
  return length < 65_536 ? 4 : 10
}

function writeHead(frame: Buffer, length: number): void {
  frame[0] = wholeText
  if (length < 126) {
    frame[1] = length
  } else if (length < 65_536) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeUInt32BE(Math.floor(length / 2 ** 32), 2)
    frame.writeUInt32BE(length % 2 ** 32, 6)
  }
}
