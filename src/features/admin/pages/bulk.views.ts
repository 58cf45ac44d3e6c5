/** One action on several users: the buttons, the question, and the result. */
import { bulkBar } from '../../../platform/pages/components/bulk-bar.ts'
import { counted } from '../../../platform/pages/components/list-counts.ts'
import { type ListParameters, listAddress } from '../../../platform/pages/components/list-links.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { ListedUser } from '../admin.store.ts'

const path = '/console/users'

export interface BulkWords {
  /** Of the button, and of its path. */
  name: string
  act: string
  /** Of one user and of several. */
  question(users: string): string
  means: string
  done(users: string): string
}

export const bulkWords = {
  disable: {
    name: 'Disable',
    act: 'disable',
    question: (users) => `Disable ${users}?`,
    means: 'They cannot sign in any more, and are signed out everywhere. Nothing is lost.',
    done: (users) => `${users} disabled, and signed out everywhere.`,
  },
  'sign-out': {
    name: 'Sign out',
    act: 'sign-out',
    question: (users) => `Sign ${users} out everywhere?`,
    means: 'All their sessions end at once, on all devices.',
    done: (users) => `${users} signed out everywhere.`,
  },
} as const satisfies Record<string, BulkWords>

export type BulkAct = keyof typeof bulkWords

export const userWords = { none: 'Nobody', one: 'user', many: 'users' }

/** What can be done to several users, above the list. */
export function userBulkBar(query: ListParameters): Html {
  return bulkBar({
    action: `${path}/bulk/disable`,
    back: new URLSearchParams(query).toString(),
    all: listAddress(path, { ...query, select: 'page' }),
    buttons: Object.values(bulkWords).map(
      ({ name, act }) => html`<button formaction="${path}/bulk/${act}">${name}…</button>`,
    ),
  })
}

export interface BulkView {
  act: BulkAct
  users: readonly ListedUser[]
  back: ListParameters
}

export function bulkQuestionPage({ act, users, back }: BulkView): Page {
  const { name, question, means } = bulkWords[act]
  const title = question(counted(users.length, userWords))
  return {
    title,
    content: html`<section class="medium card">
<h1>${title}</h1>
<p>${means}</p>
${emailList(users)}
<form method="post" action="${path}/bulk/${act}">
<input type="hidden" name="back" value="${new URLSearchParams(back).toString()}">
${users.map(({ id }) => html`<input type="hidden" name="pick" value="${id}">\n`)}
<input type="hidden" name="confirmed" value="true">
<p class="row actions"><button class="bad">${name}</button> <a class="button quiet" href="${listAddress(path, back)}">Cancel</a></p>
</form>
</section>`,
  }
}

export function nobodySelectedPage(back: ListParameters): Page {
  return {
    title: 'Nobody is selected',
    content: html`<section class="medium card">
<h1>Nobody is selected</h1>
<p>Select users in the list first. Nothing was changed.</p>
<p><a class="button" href="${listAddress(path, back)}">Back to the list</a></p>
</section>`,
  }
}

export interface BulkResult {
  done: readonly ListedUser[]
  /** With the reason. */
  refused: readonly (readonly [user: ListedUser, reason: string])[]
}

export function bulkResultPage({ act, back, done, refused }: BulkResult & Omit<BulkView, 'users'>): Page {
  const { name } = bulkWords[act]
  const isOne = done.length === 1
  return {
    title: name,
    content: html`<section class="medium card">
<h1>${name}: ${done.length} of ${counted(done.length + refused.length, userWords)}</h1>
${
  done.length > 0 &&
  html`<p role="status">${bulkWords[act].done(`${counted(done.length, userWords)} ${isOne ? 'is' : 'are'}`)}</p>${emailList(done)}`
}
${
  refused.length > 0 &&
  html`<h2>Not done</h2>
<ul>${refused.map(([{ email }, reason]) => html`<li><strong>${email}</strong>: ${reason}</li>\n`)}</ul>`
}
<p><a class="button" href="${listAddress(path, back)}">Back to the list</a></p>
</section>`,
  }
}

function emailList(users: readonly ListedUser[]): Html {
  return html`<ul class="emails">${users.map(({ email }) => html`<li>${email}</li>\n`)}</ul>`
}
