/** Further ways to sign in, which features add to the sign-in page below its form. */
import type { Html } from './html.ts'

export interface SignInOption {
  /** Added to `autocomplete` of the email field, such as `webauthn`. */
  autocomplete?: string
  /** Returns what to show, with its script. `next` is the page after signing in. */
  show(page: { next: string }): Html
}
