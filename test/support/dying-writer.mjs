/** Loaded before the service: SIGUSR2 ends the thread that writes the database. */
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

threads.Worker = class extends threads.Worker {
  constructor(file, options) {
    super(file, options)
    if (String(file).includes('writer-thread.')) process.once('SIGUSR2', () => this.terminate())
  }
}
syncBuiltinESMExports()
