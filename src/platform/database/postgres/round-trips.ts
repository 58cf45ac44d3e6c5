/** So long may reads wait for an earlier round trip to end: longer than it takes on the same machine. */
const maxWaitMs = 1

/**
 * Decides when waiting reads are sent: at once or, while a round trip is under way, when it ends, so that more of them share
 * the next one.
 */
export class RoundTrips {
  #underWay = 0
  #timer: NodeJS.Timeout | undefined
  readonly #send: () => void

  constructor(send: () => void) {
    this.#send = send
  }

  get isIdle(): boolean {
    return this.#underWay === 0 && this.#timer === undefined
  }

  /** Something waits. */
  request(): void {
    if (this.#underWay === 0) this.#sendNow()
    else this.#timer ??= setTimeout(() => this.#sendNow(), maxWaitMs)
  }

  begin(): void {
    this.#underWay += 1
  }

  end(): void {
    this.#underWay -= 1
    // Requests that have arrived in this turn of the event loop begin before that.
    if (this.#timer) setImmediate(() => this.request())
  }

  #sendNow(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#send()
  }
}
