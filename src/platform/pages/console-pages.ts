/** What features add to the console, and what they get for it. */
import type { FastifyInstance } from 'fastify'
import type { Element } from '../graphql/schema/elements.ts'
import type { AddedCards, Cards } from './cards.ts'
import type { Cookies } from './cookies.ts'
import type { NavigationEntry } from './layout.ts'
import type { Notices } from './notices.ts'
import type { SendPage } from './pages.ts'

export interface ConsolePages extends AddedCards {
  navigation?: readonly NavigationEntry[]
  /** What a page may say after a redirect, by code. */
  notices?: Readonly<Record<string, string>>
  /** Adds the routes below /console. Sessions, the check of `_token` and errors as pages come by themselves. */
  routes?(kit: PageKit): (app: FastifyInstance) => void | Promise<void>
  /** Subscriptions for scripts of the pages, on the socket at /console/live. */
  liveElements?: readonly Element[]
}

/** What pages are made with. */
export interface PageKit {
  send: SendPage
  notices: Notices
  cookies: Cookies
  /** What other features add to a page. */
  cards: Cards
  /** Where people go who have signed in. */
  home: string
}
