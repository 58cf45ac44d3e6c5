import { type Clock, systemClock } from '../../core/clock.ts'
import { type Finding, judge } from './finding.ts'

const smallMs = 2000
const largeMs = 30_000

/** Tokens carry times, and one from the future is refused: nodes whose clocks differ sign each other's users out. */
export function checkClock(other: string, theirs: number, clock: Clock = systemClock): Finding {
  const offMs = Math.abs(clock.now() - theirs)
  const seconds = (offMs / 1000).toFixed(1)
  const advice = `the clock is ${seconds} s off that of ${other}: run an NTP client on both`
  return judge(`clock_${other.toLowerCase()}`, {
    isFine: offMs <= smallMs,
    fine: `the clock agrees with that of ${other}`,
    otherwise: [offMs > largeMs ? 'problem' : 'warning', advice],
  })
}
