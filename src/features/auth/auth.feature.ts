/** Signing in: token pairs with rotation, sessions, lock-out, and forgotten passwords. */
import { join } from 'node:path'
import { on } from '../../platform/events/events.ts'
import { defineFeature } from '../../platform/feature.ts'
import { userRegistered, users } from '../users/users.feature.ts'
import { authKeys, checkAuthConfig } from './auth.keys.ts'
import { endedKeptSeconds } from './ended-sessions.store.ts'

export const auth = defineFeature({
  name: 'auth',
  needs: { users },
  migrations: join(import.meta.dirname, 'migrations'),
  expiringTables: [
    { table: 'sessions', key: 'id', keptAfterSeconds: endedKeptSeconds },
    { table: 'revoked_tokens', key: 'id' },
    { table: 'web_sessions', key: 'id_hash', keptAfterSeconds: endedKeptSeconds },
    { table: 'login_attempts', key: 'email' },
    { table: 'mailed_tokens', key: 'token_hash' },
  ],
  auditEvents: {
    login: 'Sign-in',
    '2fa_verify': 'Sign-in with a code',
    refresh: 'Session renewed',
    logout: 'Signed out',
    logout_all: 'Signed out everywhere',
    session_end: 'Device signed out',
    access_token: 'Access token for a page',
    lock: 'Account locked',
    password_change: 'Password changed',
    password_forgot: 'Password reset asked for',
    password_reset: 'Password reset',
    email_verified: 'Email verified',
  },
  config: authKeys,
  checkConfig: checkAuthConfig,

  create: async (infrastructure, needs) => (await import('./auth.create.ts')).createAuthService(infrastructure, needs),

  listeners: ({ verifiesEmail, verification }) =>
    verifiesEmail ? [on(userRegistered, ({ id }) => verification.request(id))] : [],
  signIn: ({ authenticate, webSessions, programKeys, familyTtlSeconds }) => ({
    authenticate,
    findBrowserSession: webSessions.find,
    peekBrowserSession: webSessions.peek,
    maxSessionSeconds: familyTtlSeconds,
    keys: programKeys,
  }),
  routes: (service) => async (app) => (await import('./auth.routes.ts')).addAuthRoutes(app, service),
})
