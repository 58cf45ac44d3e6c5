/** What one client may take of the event loop before others have their turn. */
const maxMs = 5

/** One packet may hold many messages, each with a document that takes milliseconds to validate. */
export class Stretch {
  /** Others have their turn. */
  isResting = false
  readonly #onRested: () => void
  #ms = 0

  constructor(onRested: () => void) {
    this.#onRested = onRested
  }

  add(ms: number): void {
    this.#ms += ms
    if (this.#ms < maxMs || this.isResting) return
    this.isResting = true
    setImmediate(() => {
      this.isResting = false
      this.#ms = 0
      this.#onRested()
    })
  }
}
