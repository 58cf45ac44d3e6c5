/** The contract between the console and the features that add pages to it. */
import type { FastifyInstance } from 'fastify'
import type { Element } from '../graphql/schema/elements.ts'
import type { AddedCards, Cards } from './cards.ts'
import type { Cookies } from './cookies.ts'
import type { NavigationEntry } from './frame/navigation.ts'
import type { Findable } from './frame/search.ts'
import type { Notices } from './notices.ts'
import type { SendPage } from './pages.ts'
import type { SignInOption } from './sign-in-options.ts'

export interface ConsolePages extends AddedCards, Findable {
  navigation?: readonly NavigationEntry[]
  /** In the bar of people who are not signed in. */
  guestNavigation?: readonly NavigationEntry[]
  /** Further ways to sign in. */
  signInOptions?: readonly SignInOption[]
  /** Paths of scripts and styles, which are served at /console/assets under their file names. */
  assets?: readonly string[]
  /** What a page may say after a redirect, by code. */
  notices?: Readonly<Record<string, string>>
  /** Adds routes below /console. Sessions, the check of `_token` and error pages are provided. */
  routes?(kit: PageKit): (app: FastifyInstance) => void | Promise<void>
  /** Subscriptions for the scripts of the pages, on the WebSocket at /console/live. */
  liveElements?: readonly Element[]
}

export interface PageKit {
  send: SendPage
  notices: Notices
  cookies: Cookies
  /** Added to pages by other features. */
  cards: Cards
  /** Of all features. */
  signInOptions: readonly SignInOption[]
  /** The page after signing in. */
  home: string
}
