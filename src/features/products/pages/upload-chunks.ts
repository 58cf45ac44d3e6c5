import { setImmediate as yieldToOthers } from 'node:timers/promises'

/** Milliseconds of reading, whatever is in them: a malformed line takes as long as a kilobyte of text. */
const chunkBytes = 16 * 1024
const linesPerChunk = 50
const newline = 0x0a

/** Other requests are served between two chunks. */
export async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const end = endOfChunk(bytes, at)
    yield bytes.subarray(at, end)
    at = end
    await yieldToOthers()
  }
}

function endOfChunk(bytes: Buffer, start: number): number {
  const most = Math.min(start + chunkBytes, bytes.length)
  let lines = 0
  for (let at = start; at < most; at++) {
    if (bytes[at] === newline && ++lines === linesPerChunk) return at + 1
  }
  return most
}
