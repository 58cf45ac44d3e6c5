/** What the console needs of other features. app/ hands it over. */

import type { Principal } from '../../platform/http/access.ts'
import type { Client } from '../../platform/http/client.ts'

export interface SignedIn {
  family: string
  version: number
}

export interface Login {
  login(given: {
    email: string
    password: string
    client: Client
  }): Promise<({ kind: 'signed_in' } & SignedIn) | { kind: 'second_factor'; challengeToken: string }>
  verify(given: { challengeToken: string; code: string; client: Client }): Promise<SignedIn>
}

export interface WebSessions {
  begin(signedIn: SignedIn): Promise<string>
  find(id: string): Promise<Principal | undefined>
}

export interface Users {
  register(given: { email: string; password: string; name: string; client: Client }): Promise<{ id: number }>
}

export interface Passwords {
  canMail: boolean
  forgot(given: { email: string; client: Client }): void
  reset(given: { token: string; password: string; client: Client }): Promise<void>
  change(given: { userId: number; current: string; next: string; client: Client }): Promise<void>
}

export interface Sessions {
  logOut(given: { principal: Principal; isEverywhere: boolean; client: Client }): Promise<void>
  list(principal: Principal): Promise<
    {
      id: string
      address: string
      user_agent: string
      created_at: string
      last_used_at: string
      current: boolean
    }[]
  >
  end(given: { principal: Principal; id: string; client: Client }): Promise<boolean>
}
