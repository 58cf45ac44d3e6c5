import { field, noProblems, type Problems, problemNote, type Values } from '../../../platform/pages/components/forms.ts'
import { html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import { setUpPath } from '../set-up.service.ts'

const title = 'Set up Latchkey'

interface SetUpView {
  token: string
  hint: string
  values?: Values
  problems?: Problems
}

export function setUpPage({ token, hint, values = {}, problems = noProblems }: SetUpView): Page {
  return {
    title,
    address: `${setUpPath}?token=${encodeURIComponent(token)}`,
    content: html`<section class="narrow card">
<h1>${title}</h1>
<p>This service has no administrator yet. The account that you create here has all permissions.</p>
${problemNote(problems)}
<form method="post" action="${setUpPath}">
<input type="hidden" name="token" value="${token}">
${field({ label: 'Email', name: 'email', type: 'email', value: values.email, problems, required: true, autocomplete: 'username', autofocus: true })}
${field({ label: 'Name', name: 'name', value: values.name, problems, autocomplete: 'name', maxlength: 255 })}
${field({ label: 'Password', name: 'password', type: 'password', problems, hint, required: true, autocomplete: 'new-password' })}
<button class="main">Make the administrator</button>
</form>
<p class="hint">A password that is lost or mistyped is replaced by the command <code>bin/latchkey user:password</code>.</p>
</section>`,
  }
}

/** Does not say why the link is invalid, because that would reveal whether it was ever valid. */
export function overPage(): Page {
  return {
    title,
    address: false,
    content: html`<section class="narrow card">
<h1>${title}</h1>
<p class="problem" role="alert">This link does not work. It was used before, is older than 30 minutes, was replaced by a
newer one, or is not complete.</p>
<p>For a new link, restart the service and look at its log, or run this command on its machine:</p>
<p><code>bin/latchkey setup</code></p>
</section>`,
  }
}
