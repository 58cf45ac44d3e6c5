/** A forgotten password, and the new one that a mail leads to. */
import type { FastifyInstance } from 'fastify'
import { Type } from '../../../core/type.ts'
import { html } from '../../../platform/html/html.ts'
import { addressOf, clientOf } from '../../../platform/http/client.ts'
import { httpErrors } from '../../../platform/http/errors.ts'
import { OrEmpty, validationFailed } from '../../../platform/http/validation.ts'
import type { Page } from '../../../platform/web/pages.ts'
import type { ConsoleParts } from '../console.routes.ts'
import { field, noProblems, type Problems, problemNote } from '../parts/forms.ts'
import { passwordHint } from '../parts/password-hint.ts'
import { createRefuse, isRefusal } from '../parts/refusals.ts'

const config = { access: 'public', docs: false } as const

export function addPasswordPages(app: FastifyInstance, parts: ConsoleParts): void {
  const { passwords, limiters, notices, send, findPasswordProblems } = parts
  const refuse = createRefuse(send)
  const hint = passwordHint(findPasswordProblems)

  app.get('/password/forgot', { config }, (request, reply) => send(request, reply, forgotPage()))

  app.post<{ Body: { email: string } }>(
    '/password/forgot',
    { config, schema: { body: Type.Object({ email: OrEmpty }) } },
    async (request, reply) => {
      if (!passwords.canMail) throw httpErrors.unavailable()
      try {
        await limiters.reset.take(addressOf(request))
        passwords.forgot({ email: request.body.email, client: clientOf(request) })
        return notices.redirect(reply, { address: '/console/sign-in', notice: 'reset-sent' })
      } catch (error) {
        return refuse({ request, reply, error }, ({ problems }) => forgotPage(problems))
      }
    },
  )

  app.get<{ Querystring: { token?: unknown } }>('/password/reset', { config }, (request, reply) => {
    const { token } = request.query
    return send(request, reply, resetPage({ hint, token: typeof token === 'string' ? token : '' }))
  })

  app.post<{ Body: { token: string; password: string } }>(
    '/password/reset',
    { config, schema: { body: Type.Object({ token: OrEmpty, password: OrEmpty }) } },
    async (request, reply) => {
      const { password } = request.body
      const token = request.body.token.trim()
      try {
        await limiters.reset.take(addressOf(request))
        const found = password === '' ? ['Must not be blank'] : findPasswordProblems(password)
        const problems = {
          ...(token === '' && { token: ['Must not be blank'] }),
          ...(found.length > 0 && { password: found }),
        }
        if (Object.keys(problems).length > 0) throw validationFailed(problems)
        await passwords.reset({ token, password, client: clientOf(request) })
        return notices.redirect(reply, { address: '/console/sign-in', notice: 'password-reset' })
      } catch (error) {
        const isOver = isRefusal(error, 'Invalid reset token')
        return refuse({ request, reply, error }, ({ problems }) =>
          resetPage({ hint, token, problems: isOver ? linkIsOver : problems }),
        )
      }
    },
  )
}

function forgotPage(problems: Problems = noProblems): Page {
  return {
    title: 'Forgotten password',
    content: html`<section class="narrow card">
<h1>Forgotten password</h1>
<p>We send a link to your email. It works once, for an hour.</p>
${problemNote(problems)}
<form method="post" action="/console/password/forgot">
${field({ label: 'Email', name: 'email', type: 'email', required: true, autocomplete: 'email', autofocus: true })}
<button class="main">Send the link</button>
</form>
<p class="beside"><a href="/console/sign-in">Back to sign in</a></p>
</section>`,
  }
}

const linkIsOver: Problems = { message: 'This link was used before, or is older than an hour.', fields: {} }

/** Where no link brings the token, as in a mail that is only shown in the log, it is typed in. */
function resetPage(view: { hint: string; token: string; problems?: Problems }): Page {
  const { hint, token, problems = noProblems } = view
  return {
    title: 'New password',
    content: html`<section class="narrow card">
<h1>New password</h1>
${problemNote(problems)}
<form method="post" action="/console/password/reset">
${token === '' ? field({ label: 'Reset token', name: 'token', problems, hint: 'It is in the message that we sent to you.', required: true, autocomplete: 'off', autofocus: true }) : html`<input type="hidden" name="token" value="${token}">`}
${field({ label: 'New password', name: 'password', type: 'password', problems, hint, required: true, autocomplete: 'new-password', autofocus: true })}
<button class="main">Change the password</button>
</form>
<p class="beside"><a href="/console/password/forgot">Ask for another link</a></p>
</section>`,
  }
}
