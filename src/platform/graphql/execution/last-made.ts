/** Makes bytes of a text once, as long as the same text is asked for again and again, as it is for all who subscribed. */
export function createLastMade(make: (text: string) => Buffer): (text: string) => Buffer {
  let last: string | undefined
  let made: Buffer = Buffer.alloc(0)
  return (text) => {
    if (text !== last) {
      made = make(text)
      last = text
    }
    return made
  }
}
