/** What an administrator can do to a user, as a list of buttons. */
import { type Html, html } from '../../../platform/pages/html.ts'

export interface UserAct {
  path: string
  name: string
  description: string
  /** For the confirmation dialog. */
  question?: string
}

export function actsCard(given: { id: string; heading: string; userId: number; acts: readonly UserAct[] }): Html {
  const { id, heading, userId, acts } = given
  return html`<section class="card" aria-labelledby="${id}">
<h2 id="${id}">${heading}</h2>
<ul class="helps">
${acts.map((act) => item(userId, act))}
</ul>
</section>`
}

function item(userId: number, { path, name, description, question }: UserAct): Html {
  const asks = question !== undefined && html` data-confirm="${question}" data-confirm-button="${name}"`
  return html`<li>
<div><h3>${name}</h3><p class="soft">${description}</p></div>
<form method="post" action="/console/users/${userId}/${path}"${asks}><button${asks && html` class="bad"`}>${name}</button></form>
</li>
`
}
