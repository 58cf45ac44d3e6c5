/** Measures the CPU time of requests, which does not depend on how busy the machine is. */

/**
 * Shorter times are ignored: garbage collection happens at any time, and some kernels count CPU time in steps of 10
 * ms.
 */
const noticeableMs = 40
/** A linear cost grows by 8, a quadratic one by 64. */
const growth = 8
const tolerance = 3

export type Send = (length: number) => Promise<unknown>

/** Returns a complaint if eight times the text takes far more than eight times the work. */
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

/** CPU time of this thread, which runs server and client; hashing and disk writes run in other threads. */
async function workOf(send: Send, length: number): Promise<number> {
  const before = process.threadCpuUsage()
  await send(length)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
