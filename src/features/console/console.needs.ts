/** What the console needs of other features. app/ hands it over. */

import type { Access, Principal } from '../../platform/http/access.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Page } from '../../platform/http/paging.ts'

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
  listNewest(page: Page): Promise<{ products: Product[]; total: number }>
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
  /** Stands for this state of it. */
  tagOf(product: Product): string
  formatPrice(cents: number): string
}
