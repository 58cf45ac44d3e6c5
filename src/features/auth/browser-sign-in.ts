/** The end of a login in a browser, by whatever way it was made: the cookies of its session and of its device. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { clientOf } from '../../platform/http/client.ts'
import type { Cookies } from '../../platform/pages/cookies.ts'
import type { SignedIn } from './login-completion.ts'
import type { SessionService } from './sessions.service.ts'
import type { WebSessions } from './web-sessions.ts'

export interface BrowserSignIn {
  request: FastifyRequest
  reply: FastifyReply
  cookies: Cookies
  signedIn: SignedIn
}

export function createBrowserSignIn({ sessions, webSessions }: { sessions: SessionService; webSessions: WebSessions }) {
  /** Always a new id for the browser, against session fixation. */
  return async ({ request, reply, cookies, signedIn }: BrowserSignIn): Promise<void> => {
    const { principal } = request
    // The browser is about to forget the session that it has, so its owner could not end it any more.
    if (principal) await sessions.end({ principal, id: principal.session, client: clientOf(request) })
    cookies.setSession(reply, await webSessions.begin(signedIn))
    if (signedIn.deviceToken !== undefined) cookies.setDevice(reply, signedIn.deviceToken)
    cookies.clearForm(reply)
  }
}
