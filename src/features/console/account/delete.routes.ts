/** The page where users delete their account. */
import type { FastifyInstance } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { clientOf } from '../../../platform/http/client.ts'
import { field } from '../../../platform/pages/components/forms.ts'
import {
  atFields,
  createRefuse,
  noRefusal,
  type Refusal,
  refusalNote,
} from '../../../platform/pages/components/refusals.ts'
import { reword } from '../../../platform/pages/components/reword.ts'
import { html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import { OrEmpty } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import type { ConsoleParts } from '../console.service.ts'

const config = { access: 'authenticated', docs: false } as const
const sentences = {
  last_administrator: 'You are the last administrator. Give the role to another user first.',
}

export function addDeletePages(app: FastifyInstance, parts: ConsoleParts): void {
  const { profile, twoFactor, cookies, notices, send } = parts
  const refuse = createRefuse(send)

  app.get('/account/delete', { config }, async (request, reply) => {
    const { enabled } = await twoFactor.status(principalOf(request).id)
    return send(request, reply, deletePage({ needsCode: enabled }))
  })

  app.post<{ Body: { password: string; code: string } }>(
    '/account/delete',
    { config, schema: { body: Type.Object({ password: OrEmpty, code: OrEmpty }) } },
    async (request, reply) => {
      const principal = principalOf(request)
      try {
        await profile.limiter.take(`user ${principal.id}`)
        await profile.removeAccount({ principal, client: clientOf(request), ...request.body })
      } catch (error) {
        const { enabled } = await twoFactor.status(principal.id)
        return refuse({ request, reply, error: reword(error, sentences) }, (refusal) =>
          deletePage({ needsCode: enabled, refusal: atFields(refusal, { password: 'password', code: 'code' }) }),
        )
      }
      cookies.clearSession(reply)
      return notices.redirect(reply, { address: '/console/sign-in', notice: 'account-deleted' })
    },
  )
}

function deletePage({ needsCode, refusal = noRefusal }: { needsCode: boolean; refusal?: Refusal }): Page {
  const { problems } = refusal
  return {
    title: 'Delete your account',
    content: html`<section class="narrow card">
<h1>Delete your account</h1>
<p>Your account is deleted at once, with its sessions, passkeys and API keys. This cannot be undone.</p>
${refusalNote(refusal)}
<form method="post" action="/console/account/delete">
${field({ label: 'Password', name: 'password', type: 'password', problems, required: true, autocomplete: 'current-password' })}
${needsCode && field({ label: 'Code', name: 'code', problems, required: true, autocomplete: 'one-time-code' })}
<button class="bad">Delete my account</button>
</form>
<p class="beside"><a href="/console/account">Back to your account</a></p>
</section>`,
  }
}
