/** An async iterator over pushed values. */

export interface AsyncQueue<Value> {
  readonly iterator: AsyncIterableIterator<Value>
  push(value: Value): void
  end(): void
  fail(error: unknown): void
}

/** Buffer limit; the subscription fails beyond it. */
const maxWaiting = 10_000

/** `onReturn` is called once, when the iteration ends for any reason. */
export function createAsyncQueue<Value>({ onReturn }: { onReturn(): void }): AsyncQueue<Value> {
  const values: Value[] = []
  let waiting: { resolve(result: IteratorResult<Value>): void; reject(error: unknown): void } | undefined
  let failure: { error: unknown } | undefined
  let isOver = false

  function finish(): void {
    if (isOver) return
    isOver = true
    waiting?.resolve({ done: true, value: undefined })
    waiting = undefined
    onReturn()
  }

  function fail(error: unknown): void {
    if (isOver) return
    failure = { error }
    waiting?.reject(error)
    waiting = undefined
    finish()
  }

  const iterator: AsyncIterableIterator<Value> = {
    next() {
      if (values.length > 0) return Promise.resolve({ done: false, value: values.shift() as Value })
      if (failure) return Promise.reject(failure.error)
      if (isOver) return Promise.resolve({ done: true, value: undefined })
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject }
      })
    },
    async return() {
      values.length = 0
      finish()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => iterator,
  }
  return {
    iterator,
    push(value) {
      if (isOver) return
      if (waiting) {
        waiting.resolve({ done: false, value })
        waiting = undefined
      } else if (values.push(value) > maxWaiting) fail(new Error(`more than ${maxWaiting} values are waiting`))
    },
    end: finish,
    fail,
  }
}
