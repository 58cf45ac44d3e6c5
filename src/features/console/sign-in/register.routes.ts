import type { FastifyInstance } from 'fastify'
import { addressOf, clientOf } from '../../../platform/http/client.ts'
import { field, noProblems, type Problems, problemNote, type Values } from '../../../platform/pages/components/forms.ts'
import { passwordHint } from '../../../platform/pages/components/password-hint.ts'
import { createRefuse } from '../../../platform/pages/components/refusals.ts'
import { html } from '../../../platform/pages/html.ts'
import { placeOf, withNext } from '../../../platform/pages/next-page.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import { OrEmpty } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import type { ConsoleParts } from '../console.service.ts'

const config = { access: 'public', docs: false } as const

export function addRegisterPages(app: FastifyInstance, parts: ConsoleParts): void {
  const { users, notices, send } = parts
  const refuse = createRefuse(send)
  const hint = passwordHint(users.findPasswordProblems)

  app.get<{ Querystring: { next?: unknown } }>('/register', { config }, (request, reply) => {
    if (request.principal) return reply.redirect('/console', 303)
    if (!users.isRegistrationOpen) return send(request, reply, closedPage(), 403)
    return send(request, reply, registerPage({ hint, next: placeOf(request.query.next), values: {} }))
  })

  app.post(
    '/register',
    {
      config,
      schema: { body: Type.Object({ email: OrEmpty, name: OrEmpty, password: OrEmpty, next: OrEmpty }) },
    },
    async (request, reply) => {
      if (!users.isRegistrationOpen) return send(request, reply, closedPage(), 403)
      const next = placeOf(request.body.next)
      try {
        await users.registrations.take(addressOf(request))
        await users.register({ ...users.validateRegistration(request.body), client: clientOf(request) })
        return notices.redirect(reply, { address: withNext('/console/sign-in', next), notice: 'registered' })
      } catch (error) {
        return refuse({ request, reply, error }, ({ problems }) =>
          registerPage({ hint, next, values: request.body, problems }),
        )
      }
    },
  )
}

function closedPage(): Page {
  return {
    title: 'Registration is closed',
    content: html`<section class="narrow card">
<h1>Registration is closed</h1>
<p>An administrator can invite you.</p>
<p class="beside">You have an account? <a href="/console/sign-in">Sign in</a></p>
</section>`,
  }
}

interface RegisterView {
  /** The password policy in words. */
  hint: string
  next: string
  values: Values
  problems?: Problems
}

function registerPage({ hint, next, values, problems = noProblems }: RegisterView): Page {
  return {
    title: 'Register',
    content: html`<section class="narrow card">
<h1>Register</h1>
${problemNote(problems)}
<form method="post" action="/console/register">
<input type="hidden" name="next" value="${next}">
${field({ label: 'Email', name: 'email', type: 'email', value: values.email, problems, required: true, autocomplete: 'email', maxlength: 255, autofocus: true })}
${field({ label: 'Name', name: 'name', value: values.name, problems, autocomplete: 'name', maxlength: 255 })}
${field({ label: 'Password', name: 'password', type: 'password', problems, hint, required: true, autocomplete: 'new-password' })}
<button class="main">Register</button>
</form>
<p class="beside">You have an account? <a href="${withNext('/console/sign-in', next)}">Sign in</a></p>
</section>`,
  }
}
