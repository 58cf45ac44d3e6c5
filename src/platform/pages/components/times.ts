import { type Html, html } from '../html.ts'

/** In UTC, until the script writes it in the reader's zone. */
export function time(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

/** The same of Unix seconds. */
export function timeOfSeconds(seconds: number): Html {
  return time(new Date(seconds * 1000).toISOString())
}
