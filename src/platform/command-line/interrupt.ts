/** Ctrl-C and SIGTERM as an AbortSignal, so that work in progress can finish. A second signal exits immediately. */
import { exitCodes } from '../../core/fatal-error.ts'

export interface Interrupt {
  signal: AbortSignal
  exitCode(): number
  release(): void
}

export function listenForInterrupt(): Interrupt {
  const controller = new AbortController()
  let code: number = exitCodes.interrupted
  const stop = (name: NodeJS.Signals) => {
    code = name === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated
    if (controller.signal.aborted) process.exit(code)
    controller.abort()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return {
    signal: controller.signal,
    exitCode: () => code,
    release() {
      process.off('SIGINT', stop)
      process.off('SIGTERM', stop)
    },
  }
}
