/** Renders the API description as a page. It is whole without scripts, which add the search, copying and "Try it". */

import type { Theme } from '../../pages/frame/theme.ts'
import { type Html, html } from '../../pages/html.ts'
import type { OpenApiDocument } from '../document.ts'
import { prose } from './fields.ts'
import { badge, renderEndpoint } from './operation-view.ts'
import { type Endpoint, languages } from './samples.ts'

export interface PageOptions {
  /** The address in the examples. */
  base: string
  theme: Theme
}

/** Links are relative, because a proxy may serve the page under a prefix. */
export function renderPage(document: OpenApiDocument, { base, theme }: PageOptions): string {
  const { info } = document
  const chapters = chaptersOf(document)
  const page = html`<!doctype html>
<html lang="en" data-theme="${theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title} API</title>
<link rel="icon" href="console/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="console/assets/tokens.css">
<link rel="stylesheet" href="console/assets/console.css">
<link rel="stylesheet" href="console/assets/forms.css">
<link rel="stylesheet" href="docs/style.css">
<script src="docs/page.js" type="module"></script>
</head>
<body class="docs">
<a class="skip" href="#content">Skip to the endpoints</a>
<header class="top">
<a href="console"><img src="console/assets/icon.svg" alt="" width="24" height="24"> Console</a>
<h1>${info.title} API <small>${info.version}</small></h1>
<a href="openapi.json">openapi.json</a>
</header>
<aside class="side" aria-label="Find and choose">
<search class="scripted">
<label for="docs-search">Search</label> <input type="search" id="docs-search" autocomplete="off" aria-keyshortcuts="/" placeholder="Press /">
<p role="status" id="docs-found"></p>
</search>
<fieldset class="languages"><legend>Examples in</legend>${Object.entries(languages).map(
    ([id, name], i) =>
      html`<label><input type="radio" name="language" value="${id}"${i === 0 && html` checked`}> ${name}</label>`,
  )}</fieldset>
<nav aria-label="Endpoints"><ul>${chapters.map(
    ({ name, id, endpoints }) => html`<li><a class="chapter" href="#${id}">${name}</a>
<ul>${endpoints.map(
      ({ method, operation }) =>
        html`<li><a href="#${operation.operationId}">${badge(method)} ${operation.summary}</a></li>`,
    )}</ul></li>`,
  )}</ul></nav>
</aside>
<main id="content" tabindex="-1">
<p>${prose(info.description)}</p>
${accessCard}
${chapters.map(
  ({ name, id, endpoints }) => html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${name}</h2>
${endpoints.map((endpoint) => renderEndpoint(document, endpoint, base))}
</section>`,
)}
</main>
</body>
</html>
`
  return page.text
}

/** Whom the requests of "Try it" are from. */
const accessCard: Html = html`<section class="card scripted" id="docs-access" aria-labelledby="docs-access-title">
<h2 id="docs-access-title">Your access</h2>
<p>“Try it” sends real requests to this service from your browser. Choose who sends them:</p>
<form class="row" id="docs-credential-form">
<label for="docs-credential">Access token or API key</label>
<input type="password" id="docs-credential" autocomplete="off" spellcheck="false"> <button>Use it in this tab</button>
</form>
<p class="row"><button type="button" id="docs-session">Use my session</button> <button type="button" id="docs-forget">Forget</button></p>
<p role="status" id="docs-who">Requests are from nobody, without a token.</p>
</section>`

function chaptersOf(document: OpenApiDocument) {
  const endpoints: Endpoint[] = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method, path, operation })),
  )
  return document.tags.map(({ name }) => ({
    name,
    id: `chapter-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
    endpoints: endpoints.filter(({ operation }) => operation.tags.includes(name)),
  }))
}
