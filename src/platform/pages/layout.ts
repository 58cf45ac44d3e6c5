/** The layout of every page: head, navigation bar, notice and footer. */
import type { FastifyRequest } from 'fastify'
import { pathOf } from '../http/request-path.ts'
import { type Html, html } from './html.ts'
import type { Page } from './pages.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The result of the action before a redirect. */
    notice: string | undefined
  }
}

export interface LayoutOptions {
  /** Links to the playground. */
  hasPlayground: boolean
  /** In display order. */
  navigation?: readonly NavigationEntry[]
  /** For people who are not signed in. */
  guestNavigation?: readonly NavigationEntry[]
}

/** An entry of the navigation bar. */
export interface NavigationEntry {
  path: string
  name: string
  /** The entry is hidden from users without it. */
  permission?: string
  /** Ascending from the left; 100 by default. The first entry is the page after signing in. */
  order?: number
}

const styles = ['console.css', 'forms.css', 'lists.css', 'people.css']

export function createLayout({
  hasPlayground,
  navigation = [],
  guestNavigation = [],
}: LayoutOptions): (page: Page, request: FastifyRequest) => Html {
  return ({ title, content, address = false }, request) => {
    const path = pathOf(request.url)
    return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Latchkey</title>
<link rel="icon" href="/console/assets/icon.svg" type="image/svg+xml">
${styles.map((name) => html`<link rel="stylesheet" href="/console/assets/${name}">`)}
<script src="/console/assets/console.js" type="module"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="/console"><img src="/console/assets/icon.svg" alt="" width="24" height="24"> Latchkey</a>
${request.principal ? signedInBar(request.principal, path, navigation) : signedOutBar(guestNavigation, hasPlayground)}
</header>
<main id="content" tabindex="-1"${address !== false && html` data-address="${address}"`}>
${request.notice !== undefined && html`<p class="notice" role="status">${request.notice}</p>`}
${content}
</main>
<footer><a href="/docs">API</a>${hasPlayground && html`<a href="/graphiql">GraphQL</a>`}</footer>
</body>
</html>
`
  }
}

function signedInBar(
  principal: NonNullable<FastifyRequest['principal']>,
  path: string,
  navigation: readonly NavigationEntry[],
): Html {
  const mayGo = navigation.filter(({ permission }) => permission === undefined || principal.can(permission))
  const current = (place: string) => (path === place || path.startsWith(`${place}/`)) && html` aria-current="page"`
  return html`<nav aria-label="Main"><ul>
${mayGo.map((place) => html`<li><a href="${place.path}"${current(place.path)}>${place.name}</a></li>`)}
</ul></nav>
<div class="person" data-person="${principal.id}">
<a href="/console/account"${current('/console/account')}>${principal.name === '' ? principal.email : principal.name}</a>
<form method="post" action="/console/sign-out"><button class="quiet">Sign out</button></form>
</div>`
}

function signedOutBar(navigation: readonly NavigationEntry[], hasPlayground: boolean): Html {
  return html`<nav aria-label="Main"><ul>
${navigation.map(({ path, name }) => html`<li><a href="${path}">${name}</a></li>`)}
<li><a href="/docs">API</a></li>${hasPlayground && html`<li><a href="/graphiql">GraphQL</a></li>`}
</ul></nav>`
}
