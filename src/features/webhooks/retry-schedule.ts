const secondsMs = 1000
const minuteMs = 60 * secondsMs
const hourMs = 60 * minuteMs

export const maxDelayMs = 3 * hourMs
/** After the first failure, the second and so on. The last one repeats. */
const delaysMs = [5 * secondsMs, 30 * secondsMs, 2 * minuteMs, 10 * minuteMs, hourMs, maxDelayMs]
const giveUpAfterMs = 3 * 24 * hourMs

/** `failures` includes the present one. Returns undefined once the endpoint has failed for three days. */
export function nextAttemptAt(given: { failures: number; failingSince: number; now: number }): number | undefined {
  const { failures, failingSince, now } = given
  const end = failingSince + giveUpAfterMs
  if (now >= end) return undefined
  const delay = delaysMs[Math.min(failures, delaysMs.length) - 1] as number
  return Math.min(now + delay, end)
}
