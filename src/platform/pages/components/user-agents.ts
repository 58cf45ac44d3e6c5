/** Browsers call themselves by many names; the first that fits is the one that people know. */
const browsers = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Vivaldi', /\bVivaldi\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  // Those above call themselves so too.
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

/** Browsers say who they are within so much. */
const maxLength = 512

/** `Firefox on Windows`, as far as a User-Agent tells. A guess for people: nothing depends on it. */
export function describeUserAgent(given: string): string {
  const userAgent = given.slice(0, maxLength)
  const browser = browsers.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const system = systems.find(([, pattern]) => pattern.test(userAgent))?.[0]
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`
  // Programs begin with their name: curl/8.14.1
  const program = /^(?!Mozilla\b)([A-Za-z][\w.-]{0,39})(?:[/ ]|$)/.exec(userAgent)?.[1]
  if (program !== undefined) return program
  return system === undefined ? 'Unknown device' : `Unknown browser on ${system}`
}
