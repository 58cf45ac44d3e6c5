/** The page that shows every part of the console's design in every state, made by the same functions as the pages. */
import type { FastifyInstance } from 'fastify'
import { badges } from '../components/badges.ts'
import { factList } from '../components/facts.ts'
import { field, type Problems, problemNote } from '../components/forms.ts'
import { type IconName, icon } from '../components/icons.ts'
import { beyondLast, pager } from '../components/pager.ts'
import { type Html, html } from '../html.ts'
import type { Page, SendPage } from '../pages.ts'

const colours = {
  Surfaces: ['ground', 'paper', 'raised', 'line', 'edge'],
  Text: ['ink', 'soft'],
  Meaning: ['main', 'main-over', 'on-main', 'main-ground', 'bad', 'bad-ground', 'good', 'good-ground'],
} as const
const textSizes = ['text-small', 'text', 'text-large', 'text-title'] as const
const spaces = ['space-1', 'space-2', 'space-3', 'space-4', 'space-5', 'space-6', 'space-8', 'gap', 'row'] as const
const shapes = ['radius-small', 'radius-control', 'radius', 'shadow', 'shadow-high'] as const
const fonts = ['sans', 'mono'] as const
const icons: readonly IconName[] = [
  'overview',
  'products',
  'users',
  'audit',
  'webhooks',
  'backups',
  'account',
  'api',
  'graphql',
  'page',
  'search',
  'action',
  'light',
  'dark',
  'system',
  'keyboard',
  'sign-out',
  'close',
  'more',
]
const problems: Problems = { fields: { wrong: ['Must be a number'] } }
const path = '/console/design'

export function addDesignPage(app: FastifyInstance, send: SendPage): void {
  app.get('/design', { config: { access: 'authenticated', docs: false } }, (request, reply) =>
    send(request, reply, designPage()),
  )
}

function designPage(): Page {
  return {
    title: 'Design',
    styles: ['design.css'],
    content: html`<h1>Design</h1>
<p>The scale is in tokens.css. Every part below is shown in each of its states; choose theme and density in the account menu to see them there too.</p>
${part(
  'Colours',
  Object.entries(colours).map(([name, all]) => html`<h3>${name}</h3>${samples('colour', all)}`),
)}
${part('Type', [samples('size', textSizes), samples('font', fonts)])}
${part('Space', samples('space', spaces))}
${part('Shapes', samples('shape', shapes))}
${part('Icons', html`<ul class="samples">${icons.map((name) => html`<li>${icon(name)} <code>${name}</code></li>`)}</ul>`)}
${part('Buttons', buttons())}
${part('Fields', fields())}
${part('Messages', messages())}
${part('Tables', tables())}
${part(
  'Facts',
  factList([
    ['Name', 'Desk lamp'],
    ['Roles', html`${badges(['admin', 'editor'])}`],
    ['Id', html`<code>42</code>`],
  ]),
)}
${part('Keys', html`<p><kbd>Ctrl</kbd> <kbd>K</kbd></p>`)}`,
  }
}

function part(heading: string, content: Html | readonly Html[]): Html {
  const id = `design-${heading.toLowerCase()}`
  return html`<section class="card" aria-labelledby="${id}">
<h2 id="${id}">${heading}</h2>
${content}
</section>
`
}

function samples(kind: string, names: readonly string[]): Html {
  return html`<ul class="samples">
${names.map((name) => html`<li><span class="sample" data-${kind}="${name}">${kind === 'size' || kind === 'font' ? 'Aa' : ''}</span> <code>--${name}</code></li>`)}
</ul>`
}

function buttons(): Html {
  const kinds = { main: 'Main', '': 'Plain', quiet: 'Quiet', bad: 'Dangerous' }
  const each = (more: Html) =>
    Object.entries(kinds).map(([name, text]) => html`<button class="${name}"${more}>${text}</button>`)
  return html`<form method="get" action="${path}"><div class="row">${each(html``)}</div>
<div class="row">${each(html` disabled`)}<a class="button" href="${path}">A link</a></div></form>`
}

function fields(): Html {
  return html`<form method="get" action="${path}">
${field({ label: 'Required', name: 'required', required: true })}
${field({ label: 'With a hint', name: 'hinted', hint: 'In dollars.', value: '12.50' })}
${field({ label: 'Refused', name: 'wrong', value: 'twelve', problems, required: true })}
${field({ label: 'Long text', name: 'long', type: 'textarea', value: 'Several\nlines' })}
${field({ label: 'Search', name: 'found', type: 'search' })}
<div class="field"><label for="field-choice">Choice</label><select id="field-choice" name="choice"><option>One</option><option>Another</option></select></div>
<div class="check"><input type="checkbox" id="field-checked" checked><label for="field-checked">Chosen</label></div>
<div class="check"><input type="checkbox" id="field-unchecked"><label for="field-unchecked">Not chosen</label></div>
</form>`
}

function messages(): Html {
  return html`${problemNote({ message: 'Something was refused, and why.', fields: {} })}
<p class="notice">Something was done.</p>
<div class="notice">Something was done. <form method="get" action="${path}"><button>Undo</button></form></div>
<p>${badges(['A badge', 'another'])}</p>
<p class="soft">Less important.</p>
<p class="text">As it was typed:
  in lines.</p>`
}

function tables(): Html {
  const meta = { page: 2, per_page: 2, last_page: 3, total: 5 }
  return html`<table class="stack">
<thead><tr><th scope="col">Name</th><th scope="col" class="number">Price</th></tr></thead>
<tbody>
<tr><td data-label="Name"><a href="${path}">Desk lamp</a></td><td data-label="Price" class="number">12.50</td></tr>
<tr class="fresh"><td data-label="Name"><a href="${path}">Just changed</a></td><td data-label="Price" class="number">9.00</td></tr>
<tr class="gone"><td data-label="Name"><a href="${path}">Deleted meanwhile</a></td><td data-label="Price" class="number">1.00</td></tr>
</tbody>
</table>
${pager(path, meta)}
${beyondLast(path, { ...meta, page: 9 })}`
}
