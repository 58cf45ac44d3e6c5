import type { Problems } from '../../../platform/pages/components/forms.ts'
import { type Html, html } from '../../../platform/pages/html.ts'

export interface RoleChoice {
  name: string
  canGive: boolean
  /** No longer configured. */
  isGone?: boolean
}

/** Checkboxes; roles that the administrator cannot grant are disabled. `label` is the id of the heading. */
export function roleChoices(given: {
  label: string
  roles: readonly RoleChoice[]
  chosen: readonly string[]
  problems: Problems
}): Html {
  const { label, roles, chosen, problems } = given
  const error = rolesError(problems)
  return html`<fieldset aria-labelledby="${label}"${error && html` aria-describedby="roles-error"`}>
${roles.map((role, i) => choice(role, { id: `role-${i}`, isChosen: chosen.includes(role.name) }))}
${error}
</fieldset>`
}

function choice(
  { name, canGive, isGone = false }: RoleChoice,
  { id, isChosen }: { id: string; isChosen: boolean },
): Html {
  return html`<div class="check">
<input type="checkbox" id="${id}" name="roles" value="${name}"${isChosen && html` checked`}${!canGive && html` disabled`}>
<label for="${id}">${name}${!canGive && html` <span class="optional">holds more than you do</span>`}${isGone && html` <span class="optional">no longer configured</span>`}</label>
</div>
`
}

function rolesError({ fields }: Problems): Html | false {
  const errors = fields.roles ?? []
  return errors.length > 0 && html`<p class="error" id="roles-error">${errors.join('. ')}.</p>`
}
