import { type Html, html } from '../html.ts'

/** In UTC; a script converts it to the reader's time zone. */
export function time(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

export function timeOfSeconds(seconds: number): Html {
  return time(new Date(seconds * 1000).toISOString())
}
