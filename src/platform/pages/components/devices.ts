import { type Html, html } from '../html.ts'
import { describeUserAgent } from './user-agents.ts'

/** Shows a readable name; the full User-Agent is in the tooltip. */
export function device(userAgent: string): Html {
  return html`<span title="${userAgent}">${describeUserAgent(userAgent)}</span>`
}
