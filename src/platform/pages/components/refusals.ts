/** Shows why a service refused a form, above the same form. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppError } from '../../../core/app-error.ts'
import { credentialErrors } from '../../../core/credential-errors.ts'
import { type Html, html } from '../html.ts'
import type { Page, SendPage } from '../pages.ts'
import { noProblems, type Problems, problemNote, problemsOf } from './forms.ts'
import { time } from './times.ts'

export interface Refusal {
  problems: Problems
  /** In Unix seconds. */
  lockedUntil?: number
}

export const noRefusal: Refusal = { problems: noProblems }

export interface Refused {
  request: FastifyRequest
  reply: FastifyReply
  error: unknown
}

/** Returns a function that renders the form again with the refusal. Rethrows errors that are no refusals. */
export function createRefuse(send: SendPage) {
  return async (
    { request, reply, error }: Refused,
    page: (refusal: Refusal) => Page | Promise<Page>,
  ): Promise<FastifyReply> => {
    const { problems, status } = problemsOf(error)
    const { extra, headers } = error as AppError
    const lockedUntil = extra?.locked_until
    const refusal = { problems, ...(typeof lockedUntil === 'number' && { lockedUntil }) }
    return send(request, reply.headers(headers ?? {}), await page(refusal), status)
  }
}

/** The note above a form: that the account is locked, or the general problem. */
export function refusalNote({ problems, lockedUntil }: Refusal): Html | false {
  return lockedUntil === undefined ? problemNote(problems) : lockedNote(lockedUntil)
}

/** For a list that is one field of the form: merges the problems of its items, such as `types.0`. */
export function atListField({ problems, ...refusal }: Refusal, name: string): Refusal {
  const fields: Record<string, readonly string[]> = {}
  for (const [path, texts] of Object.entries(problems.fields)) {
    const field = path === name || path.startsWith(`${name}.`) ? name : path
    fields[field] = [...new Set([...(fields[field] ?? []), ...texts])]
  }
  return { ...refusal, problems: { ...problems, fields } }
}

/** For forms of signed-in users: shows a wrong password or code at its field. */
export function atFields(refusal: Refusal, names: { password: string; code?: string }): Refusal {
  const { code } = refusal.problems
  if (code === credentialErrors.invalidCredentials().code) {
    return { problems: { fields: { [names.password]: ['This is not your password'] } } }
  }
  if (names.code !== undefined && code === credentialErrors.invalidCode().code) {
    return { problems: { fields: { [names.code]: ['This code is not right, or was used before'] } } }
  }
  return refusal
}

/** A script counts down. In a `timer` role, because screen readers announce every change of an alert. */
function lockedNote(until: number): Html {
  const iso = new Date(until * 1000).toISOString()
  return html`<p class="problem" role="alert">Too many failed attempts. You can try again at
<span role="timer" data-countdown="${iso}">${time(iso)}</span>.</p>`
}
