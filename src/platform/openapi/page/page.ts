/** Renders the API description as a page without scripts. */
import { html, prose } from '../../pages/html.ts'
import type { OpenApiDocument } from '../document.ts'
import { badge, type Endpoint, renderEndpoint } from './operation-view.ts'

/** `base` is the address in the examples. Links are relative, because a proxy may serve the page under a prefix. */
export function renderPage(document: OpenApiDocument, base: string): string {
  const { info } = document
  const chapters = chaptersOf(document)
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title} API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the endpoints</a>
<header class="top">
<h1>${info.title} <span>API ${info.version}</span></h1>
<a href="openapi.json">openapi.json</a>
</header>
<nav aria-label="Endpoints">
<ul>${chapters.map(
    ({ name, id, endpoints }) => html`<li><a class="chapter" href="#${id}">${name}</a>
<ul>${endpoints.map(
      ({ method, operation }) =>
        html`<li><a href="#${operation.operationId}">${badge(method)} ${operation.summary}</a></li>`,
    )}</ul></li>`,
  )}</ul>
</nav>
<main id="content" tabindex="-1">
<section class="about"><p>${prose(info.description)}</p></section>
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

interface Chapter {
  name: string
  id: string
  endpoints: Endpoint[]
}

function chaptersOf(document: OpenApiDocument): Chapter[] {
  const endpoints = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method, path, operation })),
  )
  return document.tags.map(({ name }) => ({
    name,
    id: `chapter-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
    endpoints: endpoints.filter(({ operation }) => operation.tags.includes(name)),
  }))
}
