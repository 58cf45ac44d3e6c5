/** Cards that features add to pages of other features, which know nothing of them. */
import type { FastifyRequest } from 'fastify'
import type { Principal } from '../access/route-guards.ts'
import type { Html } from './html.ts'

export interface Card<Subject> {
  /** From the top, among the cards that features add; 100 by default. */
  order?: number
  /** Returns a whole `<section class="card" aria-labelledby="…">`, or undefined where there is nothing to show. */
  show(subject: Subject, request: FastifyRequest): Html | undefined | Promise<Html | undefined>
}

/** The user whose page an administrator looks at. */
export interface ShownUser {
  id: number
  email: string
  /** Whether the administrator may change anything of that user. */
  canChange: boolean
}

/** An API key that has just been made, on the only page that shows it. */
export interface ShownKey {
  key: string
  /** The origin of the service, for examples. */
  address: string
  /** Whether the key alone allows it, for what its owner needs no permission for. */
  allows(permission: string): boolean
  /** What both the key and its owner may. */
  can(permission: string): boolean
}

/** What a feature adds. */
export interface AddedCards {
  /** On the page about one's own account. */
  accountCards?: readonly Card<Principal>[]
  /** On the page of a user, for administrators. */
  userCards?: readonly Card<ShownUser>[]
  /** On the page that welcomes the first administrator. */
  welcomeCards?: readonly Card<Principal>[]
  /** On the page that shows a new API key: what can be done with it. */
  keyCards?: readonly Card<ShownKey>[]
  /** On the overview. Each is shown to those who may see what it says. */
  overviewCards?: readonly Card<Principal>[]
}

/** The cards of all features, for the pages that have room for them. */
export interface Cards {
  ofAccount(principal: Principal, request: FastifyRequest): Promise<readonly Html[]>
  ofUser(user: ShownUser, request: FastifyRequest): Promise<readonly Html[]>
  ofWelcome(principal: Principal, request: FastifyRequest): Promise<readonly Html[]>
  ofKey(key: ShownKey, request: FastifyRequest): Promise<readonly Html[]>
  ofOverview(principal: Principal, request: FastifyRequest): Promise<readonly Html[]>
}

const defaultOrder = 100

export function createCards(added: readonly AddedCards[]): Cards {
  const ofAccount = inOrder(added.flatMap(({ accountCards = [] }) => accountCards))
  const ofUser = inOrder(added.flatMap(({ userCards = [] }) => userCards))
  const ofWelcome = inOrder(added.flatMap(({ welcomeCards = [] }) => welcomeCards))
  const ofKey = inOrder(added.flatMap(({ keyCards = [] }) => keyCards))
  const ofOverview = inOrder(added.flatMap(({ overviewCards = [] }) => overviewCards))
  return {
    ofAccount: (principal, request) => showAll(ofAccount, principal, request),
    ofUser: (user, request) => showAll(ofUser, user, request),
    ofWelcome: (principal, request) => showAll(ofWelcome, principal, request),
    ofKey: (key, request) => showAll(ofKey, key, request),
    ofOverview: (principal, request) => showAll(ofOverview, principal, request),
  }
}

function inOrder<Subject>(cards: readonly Card<Subject>[]): Card<Subject>[] {
  return cards.toSorted((a, b) => (a.order ?? defaultOrder) - (b.order ?? defaultOrder))
}

async function showAll<Subject>(
  cards: readonly Card<Subject>[],
  subject: Subject,
  request: FastifyRequest,
): Promise<Html[]> {
  const shown = await Promise.all(cards.map((card) => card.show(subject, request)))
  return shown.filter((card) => card !== undefined)
}
