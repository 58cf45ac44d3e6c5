/** Ends the process whatever its threads do: `process.exit` waits for each of them. The supervisor starts a new one. */
export function killProcess(): void {
  process.kill(process.pid, 'SIGKILL')
}
