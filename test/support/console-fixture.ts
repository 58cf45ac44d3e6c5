/** A service with users and products, and a signed-in browser for each kind of user. */
import type { Page } from 'playwright-core'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { type RoleDefinitions, shippedRoles } from '../../src/features/users/shipped-roles.ts'
import type { Owner } from './api.ts'
import { openSignedIn, startBrowsedApi } from './browsed-api.ts'
import { openBrowser, type Visit } from './browser.ts'
import { createConfig } from './config.ts'
import { loadHelpdesk } from './helpdesk.ts'
import { enableTwoFactor, logIn, password, signIn, totp } from './people.ts'
import { createProduct, sampleRow } from './products.ts'
import type { ApiWithRoles } from './roles.ts'

/** Text from users and their browsers. */
export interface Words {
  person: string
  mailbox: string
  userAgent: string
  product: string
  description: string
  category: string
}

export const plainWords: Words = {
  person: 'Ada Lovelace',
  mailbox: 'ada',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0',
  product: 'Desk Lamp',
  description: 'Bright and warm',
  category: 'home',
}

/** `member` may change products; `viewer` may view them and manage users without further permissions. */
export type Kind = 'nobody' | 'member' | 'viewer' | 'admin'

export interface ConsoleFixture {
  api: ApiWithRoles
  words: Words
  /** The signed-in browser of this kind of user, without a page on the first call. */
  visit(kind: Kind): Promise<Visit>
  /** All opened browsers. */
  visits: readonly Visit[]
  people: Record<'member' | 'viewer' | 'admin' | 'locked' | 'careful', { id: number; email: string }>
  /** Creates more than one page of products, once. Returns the id of the one with the words. */
  stock(): Promise<number>
  /** The next code of the user with two-factor. Advances the clock. */
  nextCode(): string
}

export async function startConsoleFixture(t: Owner, words = plainWords): Promise<ConsoleFixture> {
  const config = createConfig(t, files)
  const extensions = await loadHelpdesk(t)
  const api = await startBrowsedApi(t, { config, extensions, env: { MAIL_FROM: 'latchkey@example.com' } })
  async function add(mailbox: string, ...roles: string[]) {
    const user = await signIn(api, `${mailbox}@example.com`)
    await api.grant(user, ...roles)
    await api.db.write({ sql: 'UPDATE users SET name = $1 WHERE id = $2', params: [words.person, user.id] })
    const headers = { 'user-agent': words.userAgent }
    await api.request('POST', '/api/auth/login', { json: { email: user.email, password }, headers })
    return user
  }
  const people = {
    member: await add(words.mailbox, 'editor'),
    viewer: await add('viewer', 'viewer', 'helper'),
    admin: await add('root', 'admin'),
    locked: await add('locked'),
    careful: await add('careful'),
  }
  const { secret } = await enableTwoFactor(api, people.careful)
  for (let i = 0; i < 5; i++) await logIn(api, people.locked.email, 'wrong')

  const visits: Visit[] = []
  const known = new Map<Kind, Promise<Visit>>()
  async function open(kind: Kind): Promise<Visit> {
    const visit = await (kind === 'nobody'
      ? openBrowser(t, { url: api.url })
      : openSignedIn(t, api, { email: people[kind].email }))
    visits.push(visit)
    return visit
  }

  let made: Promise<number> | undefined
  async function stock(): Promise<number> {
    const rest = { ...sampleRow, price_cents: 123456, category: 'garden' }
    const things = Array.from({ length: 30 }, (_, i) => ({
      ...rest,
      name: `Thing ${i + 1}`,
      active: i % 5 > 0,
      stock: i % 4,
    }))
    await api.db.write(insertMany(api.db.dialect, things, api.clock.nowIso()))
    const { product: name, description, category } = words
    return createProduct(api, people.member.access, { name, description, category })
  }
  return {
    api,
    words,
    people,
    visits,
    visit(kind) {
      const visit = known.get(kind) ?? open(kind)
      known.set(kind, visit)
      return visit
    },
    stock: () => {
      made ??= stock()
      return made
    },
    nextCode() {
      api.clock.advance(30)
      return totp(api, secret)
    },
  }
}

function toMlc(roles: RoleDefinitions): string {
  return Object.entries(roles)
    .map(([name, { permissions, inherits }]) => {
      const [granted, parents] = [permissions, inherits].map((list) => JSON.stringify(list))
      return `${name} {\n      permissions = ${granted}\n      inherits = ${parents}\n    }`
    })
    .join('\n    ')
}

const files = {
  products: 'products {\n  write_permission = "posts.edit"\n}\n',
  auth: `auth {
  roles {
    ${toMlc({ ...shippedRoles, helper: { permissions: ['users.view', 'users.update'], inherits: [] } })}
  }
}
`,
}

/** The secret that the page shows. */
export async function secretOn(page: Page): Promise<string> {
  return (await page.locator('code.secret').innerText()).replaceAll(/\s/g, '')
}
