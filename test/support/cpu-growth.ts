/** How much work the event loop does for a request, in processor time: a busy machine does not change it. */

/** Less is never looked at: garbage is collected at any time, and some kernels count processor time by the 10 ms. */
const noticeableMs = 40
/** A linear cost grows with the length, a quadratic one with its square: 8 against 64. */
const growth = 8
const tolerance = 3

export type Send = (length: number) => Promise<unknown>

/** Returns a complaint where eight times the text is far more than eight times the work. */
export async function findGrowth(send: Send, length: number): Promise<string | undefined> {
  if ((await workOf(send, length)) <= noticeableMs) return undefined
  const long = await leastWorkOf(send, length)
  const short = await leastWorkOf(send, length / growth)
  if (long <= Math.max(noticeableMs, short * growth * tolerance)) return undefined
  return `${length} characters take ${long.toFixed(1)} ms, an eighth of them ${short.toFixed(1)} ms`
}

async function leastWorkOf(send: Send, length: number): Promise<number> {
  const works: number[] = []
  for (let i = 0; i < 3; i++) works.push(await workOf(send, length))
  return Math.min(...works)
}

/** Of this thread, which serves and asks: what hashes or writes to the disk has threads of its own. */
async function workOf(send: Send, length: number): Promise<number> {
  const before = process.threadCpuUsage()
  await send(length)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
