import { field, noProblems, type Problems, problemNote } from '../../../platform/pages/components/forms.ts'
import { html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'

export function invitationPage(view: { hint: string; token: string; email: string; problems?: Problems }): Page {
  const { hint, token, email, problems = noProblems } = view
  return {
    title: 'Welcome',
    content: html`<section class="narrow card">
<h1>Welcome</h1>
<p>You are invited. Choose a password, then sign in as <strong>${email}</strong>.</p>
${problemNote(problems)}
<form method="post" action="/console/invitation">
<input type="hidden" name="token" value="${token}">
${field({ label: 'Password', name: 'password', type: 'password', problems, hint, required: true, autocomplete: 'new-password', autofocus: true })}
<button class="main">Set the password</button>
</form>
</section>`,
  }
}

/** Does not say why the link is invalid, because that would reveal whether it was ever valid. */
export function invitationOverPage(): Page {
  return {
    title: 'Invitation',
    content: html`<section class="narrow card">
<h1>Invitation</h1>
<p class="problem" role="alert">This link does not work. It was used before, is older than seven days, or is not complete.</p>
<p>Ask the administrator who invited you for another one. If you have set your password already, sign in with it.</p>
<p class="beside"><a href="/console/sign-in">Sign in</a></p>
</section>`,
  }
}
