import { type Html, html } from '../html.ts'
import { describeUserAgent } from './user-agents.ts'

/** A device by the name that people know; what it calls itself is there for who wants to look. */
export function device(userAgent: string): Html {
  return html`<span title="${userAgent}">${describeUserAgent(userAgent)}</span>`
}
