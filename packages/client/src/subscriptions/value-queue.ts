/** Values that are pushed by callbacks and read by a loop. */
export function createValueQueue<T>() {
  const values: T[] = []
  let end: { error?: unknown } | undefined
  let wake = () => {}

  function finish(how: { error?: unknown }): void {
    end ??= how
    wake()
  }

  async function* read(): AsyncGenerator<T, void> {
    for (;;) {
      const next = values.shift()
      if (next !== undefined) yield next
      else if (end) {
        if ('error' in end) throw end.error
        return
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  }

  return {
    read,
    push(value: T) {
      values.push(value)
      wake()
    },
    end: () => finish({}),
    fail: (error: unknown) => finish({ error }),
  }
}
