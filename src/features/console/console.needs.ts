/** What the console needs of other features. app/ hands it over. */

import type { Access, Principal } from '../../platform/access/route-guards.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Page as Paging } from '../../platform/http/paging.ts'

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
  rename(given: { id: number; name: string; client: Client }): Promise<void>
}

export interface Passwords {
  /** Where the message for a forgotten password ends up; `none`: it cannot be sent. */
  delivery: 'mail' | 'log' | 'none'
  /** Whether a password can be set with this token. Looking uses nothing up. */
  isResetValid(token: string): Promise<boolean>
  forgot(given: { email: string; client: Client }): void
  reset(given: { token: string; password: string; client: Client }): Promise<void>
  change(given: { userId: number; current: string; next: string; client: Client }): Promise<void>
}

export interface Device {
  id: string
  address: string
  user_agent: string
  created_at: string
  last_used_at: string
  /** The one that asks. */
  current: boolean
}

export interface Sessions {
  logOut(given: { principal: Principal; isEverywhere: boolean; client: Client }): Promise<void>
  list(principal: Principal): Promise<Device[]>
  end(given: { principal: Principal; id: string; client: Client }): Promise<boolean>
}

export interface TwoFactorStatus {
  enabled: boolean
  recovery_codes_left: number
}

/** Shown, and not confirmed by a code yet. */
export interface PendingTwoFactor {
  secret: string
  otpauth_url: string
  /** Whoever has it gets to see the secret again. */
  ticket: string
}

interface Actor {
  userId: number
  client: Client
}

export interface TwoFactor {
  status(userId: number): Promise<TwoFactorStatus>
  setUp(given: Actor & { password: string }): Promise<PendingTwoFactor>
  showAgain(given: { userId: number; email: string; ticket: string }): Promise<PendingTwoFactor | undefined>
  enable(given: Actor & { version: number; code: string }): Promise<string[]>
  disable(given: Actor & { password: string; code: string }): Promise<void>
  renewRecoveryCodes(given: Actor & { password: string; code: string }): Promise<string[]>
}

export interface ListedUser {
  id: number
  email: string
  name: string
  roles: string[]
  two_factor: boolean
  locked_until: number | null
  created_at: string
}

export interface AuditRow {
  at: string
  event: string
  user_id: number | null
  email: string | null
  address: string
  user_agent: string
  outcome: string
  actor_id: number | null
  actor_email: string | null
  changes: Readonly<Record<string, { from: unknown; to: unknown }>> | null
}

export interface Administrator {
  id: number
  roles: readonly string[]
  client: Client
}

export interface Admin {
  list(q: string, page: Paging): Promise<{ users: ListedUser[]; total: number }>
  find(id: number | undefined): Promise<ListedUser | undefined>
  canChange(actor: Pick<Administrator, 'roles'>, user: Pick<ListedUser, 'roles'>): boolean
  listRoles(actor: Pick<Administrator, 'roles'>): { name: string; canGive: boolean }[]
  setRoles(actor: Administrator, id: number | undefined, roles: readonly string[]): Promise<ListedUser>
  unlock(actor: Administrator, id: number | undefined): Promise<void>
  resetTwoFactor(actor: Administrator, id: number | undefined): Promise<void>
  endSessions(actor: Administrator, id: number | undefined): Promise<void>
  listAudit(page: Paging): Promise<{ rows: AuditRow[]; total: number }>
}

export interface Product {
  id: number
  name: string
  description: string
  price_cents: number
  category: string
  active: boolean
  stock: number
  created_at: string
  updated_at: string
}

/** What a form holds, by field. Everything is text. */
export type Form = Readonly<Record<string, unknown>>

export interface Products {
  /** What creating, changing and deleting takes. */
  writeAccess: Access
  mayWrite(principal: Principal): boolean
  /** Lists come without descriptions. */
  listNewest(page: Paging): Promise<{ products: Product[]; total: number }>
  /** Active ones, by name. */
  find(wanted: { q: string | undefined; category: string | undefined; limit: number }): Promise<Product[]>
  listCategories(limit: number): Promise<string[]>
  get(id: number | undefined): Promise<Product>
  /** Throws what is wrong with the form, by field. A form that is sent twice makes one product: `key` tells. */
  create(form: Form, options: { userId: number; key: string }): Promise<unknown>
  /** 412 where the product is no longer the one that `tag` stands for. */
  update(id: number | undefined, form: Form, tag: string): Promise<unknown>
  delete(id: number | undefined): Promise<void>
  restore(id: number | undefined): Promise<unknown>
  /** One whose deletion can be undone. */
  findDeleted(id: number | undefined): Promise<Pick<Product, 'id' | 'name'> | undefined>
  /** Stands for this state of it. */
  tagOf(product: Product): string
  formatPrice(cents: number): string
}
