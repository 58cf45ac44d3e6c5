/** The checkbox of forms that set a password. */
import { type Html, html } from '../../platform/pages/html.ts'

/** `count` is undefined until the user is known. */
export function removePasskeysBox({ count, isOn }: { count: number | undefined; isOn: boolean }): Html {
  const label = count === undefined ? 'all passkeys' : count === 1 ? 'your passkey' : `your ${count} passkeys`
  return html`<div class="field check"><input type="checkbox" id="field-remove-passkeys" name="remove_passkeys" value="true"${isOn && html` checked`} aria-describedby="field-remove-passkeys-hint">
<label for="field-remove-passkeys">Remove ${label} too</label>
<p class="hint" id="field-remove-passkeys-hint">Passkeys keep signing in after the password changes. Remove them if you don't recognize one.</p></div>
`
}
