/** Preload this for the heap that the service had before it was bounded, to compare what the bounds cost. */
import { syncBuiltinESMExports } from 'node:module'
import v8 from 'node:v8'

const { setFlagsFromString } = v8
v8.setFlagsFromString = (flag: string) => {
  if (flag.startsWith('--memory-pool-timeout') || flag === '--no-allocation-site-pretenuring') return
  setFlagsFromString(flag.startsWith('--heap-growing-percent') ? '--heap-growing-percent=200' : flag)
}
syncBuiltinESMExports()
