/** The document of every page: its head, the frame around the content, and the notice. */
import type { FastifyRequest } from 'fastify'
import { pathOf } from '../http/request-path.ts'
import { accountMenu } from './frame/account-menu.ts'
import { type Appearance, defaultAppearance } from './frame/appearance.ts'
import { breadcrumb } from './frame/breadcrumb.ts'
import { guestBar, type NavigationEntry, sideBar } from './frame/navigation.ts'
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
  /** Of the browser that asks. The default one without it. */
  appearanceOf?(request: FastifyRequest): Appearance
}

const commonStyles = ['tokens.css', 'console.css', 'frame.css', 'forms.css', 'lists.css', 'people.css']

/** The last element of a page. Browsers that can wait for it show the page when it is whole, so that nothing moves. */
const end = html`<template id="end"></template>`

export function createLayout({
  hasPlayground,
  navigation = [],
  guestNavigation = [],
  appearanceOf = () => defaultAppearance,
}: LayoutOptions): (page: Page, request: FastifyRequest) => Html {
  return ({ title, content, address = false, styles = [], trail }, request) => {
    const { principal, notice } = request
    const path = pathOf(request.url)
    const appearance = appearanceOf(request)
    const { theme, density } = appearance
    const next = address === false ? request.url : address
    return html`<!doctype html>
<html lang="en" data-theme="${theme}" data-density="${density}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Latchkey</title>
<link rel="expect" href="#end" blocking="render">
<link rel="icon" href="/console/assets/icon.svg" type="image/svg+xml">
${[...commonStyles, ...styles].map((name) => html`<link rel="stylesheet" href="/console/assets/${name}">`)}
<script src="/console/assets/console.js" type="module"></script>
</head>
<body${principal && html` class="framed"`}>
<a class="skip" href="#content">Skip to the content</a>
<header class="${principal ? 'side' : 'bar'}">
<a class="brand" href="/console"><img src="/console/assets/icon.svg" alt="" width="24" height="24"> Latchkey</a>
${
  principal
    ? html`${sideBar({ principal, path, navigation, hasPlayground })}
${accountMenu({ principal, path, appearance, next })}`
    : guestBar(guestNavigation, hasPlayground)
}
</header>
<main id="content" tabindex="-1"${address !== false && html` data-address="${address}"`}>
${principal && breadcrumb({ path, title, navigation, trail })}
${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}
${content}
</main>
${!principal && html`<footer><a href="/docs">API</a>${hasPlayground && html`<a href="/graphiql">GraphQL</a>`}</footer>`}
${end}
</body>
</html>
`
  }
}
