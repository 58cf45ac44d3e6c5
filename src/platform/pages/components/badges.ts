import { type Html, html } from '../html.ts'

export function badges(names: readonly string[]): Html[] {
  return names.map((name) => html`<span class="badge">${name}</span> `)
}
