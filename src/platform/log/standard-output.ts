/**
 * Standard output as the destination of the log. It may be a file on a full disk, or a pipe that nobody reads any more: the
 * service goes on without its log. Pino's own destination ends the process on such an error, or waits for ever at its end.
 */
import { write as writeFile, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

export interface OutputOptions {
  /** Defaults to standard output. */
  descriptor?: number
  /** Lines are kept in memory up to so many characters; what exceeds them is lost. */
  maxLength?: number
  /** How long to wait before a failed write is tried again. */
  retryMs?: number
  /** Called once lines are written again after some were lost. Without an error, writing was too slow. */
  onLost(lines: number, error: Error | undefined): void
}

export interface Output extends DestinationStream {
  /** Writes what is waiting, as far as that is possible now. */
  flushSync(): void
}

const defaults = { descriptor: 1, maxLength: 1024 * 1024, retryMs: 500 }
/** How long the end of the process waits for a pipe that is full. */
const maxFullPipeMs = 1000
const fullPipeMs = 20

export function openStandardOutput(options: OutputOptions): Output {
  const { descriptor, maxLength, retryMs, onLost } = { ...defaults, ...options }
  let lines: string[] = []
  let length = 0
  /** The rest of what is being written. */
  let writing: Buffer | undefined
  let isInFlight = false
  /** A write is scheduled or in flight. */
  let isBusy = false
  let isClosed = false
  let failure: Error | undefined
  let lostLines = 0

  function take(): Buffer {
    const text = Buffer.from(lines.join(''))
    lines = []
    length = 0
    return text
  }

  function writeNext(): void {
    isBusy = writing !== undefined || lines.length > 0
    if (!isBusy) return
    isInFlight = true
    writing ??= take()
    writeFile(descriptor, writing, (error, bytes) => {
      isInFlight = false
      if (error) return fail(error)
      writing = remainderOf(writing, bytes)
      reportLost()
      writeNext()
    })
  }

  function fail(error: NodeJS.ErrnoException): void {
    if (error.code === 'EPIPE') {
      isClosed = true
      return
    }
    // A pipe whose reader is slow is no failure.
    if (error.code !== 'EAGAIN') failure = error
    setTimeout(writeNext, error.code === 'EAGAIN' ? fullPipeMs : retryMs).unref()
  }

  function reportLost(): void {
    const [lost, error] = [lostLines, failure]
    lostLines = 0
    failure = undefined
    if (lost > 0) onLost(lost, error)
  }

  function flushSync(): void {
    if (isClosed) return
    // What is in flight is with the operating system already.
    const waiting = isInFlight || !writing ? [] : [writing]
    let text = Buffer.concat([...waiting, take()])
    if (!isInFlight) writing = undefined
    const end = performance.now() + maxFullPipeMs
    while (text.length > 0) {
      try {
        text = text.subarray(writeSync(descriptor, text))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > end) return
        Atomics.wait(pause, 0, 0, fullPipeMs)
      }
    }
  }

  process.on('exit', flushSync)
  return {
    write(line) {
      if (isClosed) return
      if (length + line.length > maxLength) {
        lostLines += 1
        return
      }
      lines.push(line)
      length += line.length
      if (isBusy) return
      isBusy = true
      // The lines of one turn of the event loop are one write.
      setImmediate(writeNext)
    },
    flushSync,
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4))

function remainderOf(text: Buffer | undefined, written: number): Buffer | undefined {
  return text && written < text.length ? text.subarray(written) : undefined
}
