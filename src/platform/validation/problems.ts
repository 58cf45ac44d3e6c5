/** Validation messages by the path of the field: `items.0.quantity`. */
const maxFields = 100

export class Problems {
  #details: Record<string, string[]> | undefined
  #count = 0

  add(path: string, messages: readonly string[]): void {
    // Bounds the size of the response.
    if (messages.length === 0 || this.#count >= maxFields) return
    this.#details ??= {}
    this.#details[path] = [...(this.#details[path] ?? []), ...messages]
    this.#count += 1
  }

  get isFull(): boolean {
    return this.#count >= maxFields
  }

  /** Undefined if there are no problems. */
  get details(): Record<string, string[]> | undefined {
    return this.#details
  }
}
