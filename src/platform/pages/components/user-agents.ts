/** A User-Agent names several browsers for compatibility; the first match here is the actual one. */
const browsers = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Vivaldi', /\bVivaldi\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  // Must be last: the others contain it too.
  ['Safari', / Safari\//],
] as const

const systems = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['Mac', /\bMacintosh\b/],
  ['Chrome OS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
] as const

/** Enough for any browser. */
const maxLength = 512

/** `Firefox on Windows`. A guess for display only. */
export function describeUserAgent(given: string): string {
  const userAgent = given.slice(0, maxLength)
  const browser = browsers.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const system = systems.find(([, pattern]) => pattern.test(userAgent))?.[0]
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`
  // Programs start with their name: curl/8.14.1
  const program = /^(?!Mozilla\b)([A-Za-z][\w.-]{0,39})(?:[/ ]|$)/.exec(userAgent)?.[1]
  if (program !== undefined) return program
  return system === undefined ? 'Unknown device' : `Unknown browser on ${system}`
}
