/**
 * Encodes text frames (RFC 6455, section 5.2): unfragmented, unmasked, uncompressed. Not left to `ws`, so that a value
 * is encoded once for all sockets.
 */
const finalTextFrame = 0x81

/** A complete frame, which several sockets may share. */
export function frameOf(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const start = headLength(length)
  const frame = Buffer.allocUnsafe(start + length)
  writeHead(frame, length)
  frame.write(text, start)
  return frame
}

/** The beginning of a frame; `restLength` bytes, shared between sockets, follow. */
export function beginFrame(text: string, restLength: number): Buffer {
  const own = Buffer.byteLength(text)
  const start = headLength(own + restLength)
  const frame = Buffer.allocUnsafe(start + own)
  writeHead(frame, own + restLength)
  frame.write(text, start)
  return frame
}

/** Complete frames that all begin with this text, for rests that are cheaper to copy than to write by themselves. */
export function joinFrames(text: string, rests: readonly Buffer[]): Buffer {
  const own = Buffer.byteLength(text)
  let length = 0
  for (const rest of rests) length += headLength(own + rest.length) + own + rest.length
  const frames = Buffer.allocUnsafe(length)
  let at = 0
  for (const rest of rests) {
    writeHead(frames.subarray(at), own + rest.length)
    at += headLength(own + rest.length)
    at += frames.write(text, at)
    frames.set(rest, at)
    at += rest.length
  }
  return frames
}

function headLength(length: number): number {
  if (length < 126) return 2
  return length < 65_536 ? 4 : 10
}

function writeHead(frame: Buffer, length: number): void {
  frame[0] = finalTextFrame
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
