import { field, noProblems, type Problems, problemNote } from '../../../platform/pages/components/forms.ts'
import { html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { Delivery } from '../console.service.ts'

const back = html`<a href="/console/sign-in">Back to sign in</a>`

export function forgotPage({ delivery, problems = noProblems }: { delivery: Delivery; problems?: Problems }): Page {
  return {
    title: 'Forgotten password',
    content: html`<section class="narrow card">
<h1>Forgotten password</h1>
${
  delivery === 'mail'
    ? html`<p>We send a link to your email. It works once, for an hour.</p>`
    : html`<p>No mail server is configured (<code>mail.url</code>), so the message is written to the log of the service,
where its developer finds it. What is in it works once, for an hour.</p>`
}
${problemNote(problems)}
<form method="post" action="/console/password/forgot">
${field({ label: 'Email', name: 'email', type: 'email', required: true, autocomplete: 'email', autofocus: true })}
<button class="main">${delivery === 'mail' ? 'Send the link' : 'Write the message'}</button>
</form>
<p class="beside">${back}</p>
</section>`,
  }
}

/** Shown if mail cannot be sent. */
export function noMailPage(): Page {
  return {
    title: 'Forgotten password',
    content: html`<section class="narrow card">
<h1>Forgotten password</h1>
<p>This service cannot send mail, so there is no link for a new password. Ask an administrator of the service to help
you.</p>
<p class="beside">${back}</p>
</section>`,
  }
}

/** Does not say why the link is invalid, because that would reveal whether it was ever valid. */
export function overPage({ delivery }: { delivery: Delivery }): Page {
  return {
    title: 'New password',
    content: html`<section class="narrow card">
<h1>New password</h1>
<p class="problem" role="alert">This link does not work. It was used before, is older than an hour, or is not complete.</p>
${
  delivery === 'none'
    ? html`<p>Ask an administrator of the service to help you.</p>`
    : html`<p><a class="button main" href="/console/password/forgot">Ask for another link</a></p>`
}
<p class="beside"><a href="/console/password/reset">Type the token of a message</a> ${back}</p>
</section>`,
  }
}

/** Without a token in the link, as for a message in the log, the form asks for it. */
export function resetPage(view: { hint: string; token: string; delivery: Delivery; problems?: Problems }): Page {
  const { hint, token, delivery, problems = noProblems } = view
  const tokenHint =
    delivery === 'log' ? 'It is in the log of the service.' : 'It is in the message that we sent to you.'
  return {
    title: 'New password',
    content: html`<section class="narrow card">
<h1>New password</h1>
${problemNote(problems)}
<form method="post" action="/console/password/reset">
${token === '' ? field({ label: 'Reset token', name: 'token', problems, hint: tokenHint, required: true, autocomplete: 'off', autofocus: true }) : html`<input type="hidden" name="token" value="${token}">`}
${field({ label: 'New password', name: 'password', type: 'password', problems, hint, required: true, autocomplete: 'new-password', autofocus: token !== '' })}
<button class="main">Change the password</button>
</form>
<p class="beside">${delivery === 'none' ? back : html`<a href="/console/password/forgot">Ask for another link</a>`}</p>
</section>`,
  }
}
