/** Dead letters in the console, newest first. */
import type { FastifyInstance } from 'fastify'
import { type Principal, principalOf } from '../../platform/access/route-guards.ts'
import type { DeadLetter } from '../../platform/changes/dead-letters.store.ts'
import { idOf } from '../../platform/http/ids.ts'
import { time } from '../../platform/pages/components/times.ts'
import type { PageKit } from '../../platform/pages/console-pages.ts'
import { type Html, html } from '../../platform/pages/html.ts'
import type { Page } from '../../platform/pages/pages.ts'
import { mayDiscard, mayRetry, mayView, refusedAs } from './dead-letters.access.ts'
import { actorOf, positive } from './dead-letters.routes.ts'
import type { DeadLetters } from './dead-letters.service.ts'

const path = '/console/dead-letters'
const perPage = 50
const view = { access: mayView, docs: false } as const
const retry = { access: [mayView, mayRetry], audit: refusedAs('dead_letter_retried'), docs: false } as const
const discard = { access: [mayView, mayDiscard], audit: refusedAs('dead_letter_discarded'), docs: false } as const

export function addDeadLetterPages(
  app: FastifyInstance,
  { send, notices, service }: PageKit & { service: DeadLetters },
): void {
  app.get('/dead-letters', { config: view }, async (request, reply) => {
    const before = positive((request.query as Record<string, unknown>).before) ?? Number.MAX_SAFE_INTEGER
    const found = await service.list({ before, limit: perPage + 1 })
    return send(request, reply, deadLettersPage(found, principalOf(request)))
  })

  app.post('/dead-letters/:id/retry', { config: retry }, async (request, reply) => {
    await service.retry(idOf(request), actorOf(request))
    return notices.redirect(reply, { address: path, notice: 'dead-letter-retried' })
  })
  app.post('/dead-letters/:id/discard', { config: discard }, async (request, reply) => {
    await service.discard(idOf(request), actorOf(request))
    return notices.redirect(reply, { address: path, notice: 'dead-letter-discarded' })
  })
  app.post('/dead-letters/retry', { config: retry }, async (request, reply) => {
    await service.retryAll(actorOf(request))
    return notices.redirect(reply, { address: path, notice: 'dead-letters-retried' })
  })
  app.post('/dead-letters/discard', { config: discard }, async (request, reply) => {
    await service.discardAll(actorOf(request))
    return notices.redirect(reply, { address: path, notice: 'dead-letters-discarded' })
  })
}

interface Rights {
  canRetry: boolean
  canDiscard: boolean
}

function deadLettersPage(found: readonly DeadLetter[], principal: Principal): Page {
  const rights = {
    canRetry: principal.can(mayRetry.permission),
    canDiscard: principal.can(mayDiscard.permission),
  }
  const shown = found.slice(0, perPage)
  const last = shown.at(-1)
  return {
    title: 'Dead letters',
    content: html`<h1>Dead letters</h1>
<p>Changes that a listener failed to handle, and mail that could not be delivered. Dead letters are deleted after 90 days.</p>
${
  last === undefined
    ? html`<div class="card empty"><h2>No dead letters</h2><p>There is nothing to retry or discard.</p></div>`
    : html`${actions(rights)}${table(shown, rights)}
${found.length > perPage && html`<nav class="pager" aria-label="Pages"><a rel="next" href="${path}?before=${last.id}">Older →</a></nav>`}`
}`,
  }
}

function actions({ canRetry, canDiscard }: Rights): Html | false {
  return (
    (canRetry || canDiscard) &&
    html`<div class="row">
${canRetry && html`<form method="post" action="${path}/retry"><button>Retry all</button></form>`}
${canDiscard && html`<form method="post" action="${path}/discard" data-confirm="Discard all dead letters?" data-confirm-button="Discard"><button class="bad">Discard all</button></form>`}
</div>`
  )
}

function table(letters: readonly DeadLetter[], { canRetry, canDiscard }: Rights): Html {
  return html`<div class="card list"><table class="stack people">
<thead><tr><th scope="col">Listener</th><th scope="col">Type</th><th scope="col">Last attempt</th><th scope="col">Attempts</th><th scope="col">Error</th><th scope="col">Actions</th></tr></thead>
<tbody>
${letters.map(
  ({ id, listener, type, entity_id, failed_at, attempts, error, retry_at }) => html`<tr>
<td class="title" id="letter-${id}">${listener}</td>
<td data-label="Type">${type}${entity_id !== null && ` ${entity_id}`}</td>
<td data-label="Last attempt">${time(failed_at)}</td>
<td data-label="Attempts">${attempts}</td>
<td data-label="Error"><span>${error}</span></td>
<td class="action">${
    retry_at !== null
      ? 'Retrying'
      : html`${canRetry && html`<form method="post" action="${path}/${id}/retry"><button class="small" aria-describedby="letter-${id}">Retry</button></form>`}
${canDiscard && html`<form method="post" action="${path}/${id}/discard"><button class="small" aria-describedby="letter-${id}">Discard</button></form>`}`
  }</td>
</tr>
`,
)}
</tbody>
</table></div>`
}
