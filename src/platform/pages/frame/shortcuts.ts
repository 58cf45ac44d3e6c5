/** The list of keyboard shortcuts. shortcuts.js shows it in a dialog, reads the keys of the navigation, and can be turned off. */
import type { FastifyInstance } from 'fastify'
import { principalOf } from '../../access/route-guards.ts'
import { type Html, html } from '../html.ts'
import type { Page, SendPage } from '../pages.ts'
import { entriesFor, type NavigationEntry } from './navigation.ts'

interface Shortcut {
  keys: readonly string[]
  does: string
}

const everywhere: readonly Shortcut[] = [
  { keys: ['Ctrl', 'K'], does: 'Search the console' },
  { keys: ['?'], does: 'Show these shortcuts' },
  { keys: ['/'], does: 'Go to the search field of the page' },
  { keys: ['N'], does: 'Start the form for a new entry, on pages that have one' },
]

export function addShortcuts(
  app: FastifyInstance,
  { send, navigation }: { send: SendPage; navigation: readonly NavigationEntry[] },
): void {
  app.get('/shortcuts', { config: { access: 'authenticated', docs: false } }, (request, reply) =>
    send(request, reply, shortcutsPage(entriesFor(principalOf(request), navigation))),
  )
}

function shortcutsPage(entries: readonly NavigationEntry[]): Page {
  const places = entries.flatMap(({ key, name }) =>
    key === undefined ? [] : [{ keys: ['G', key.toUpperCase()], does: `Go to ${name}` }],
  )
  return {
    title: 'Keyboard shortcuts',
    content: html`<div class="medium">
<h1>Keyboard shortcuts</h1>
<div class="card" id="shortcuts">
<table>
<thead><tr><th scope="col">Keys</th><th scope="col">What they do</th></tr></thead>
<tbody>
${[...everywhere, ...places].map(row)}
</tbody>
</table>
<p class="soft">They need JavaScript, and do nothing while you type in a field. On a Mac, Ctrl is ⌘.</p>
<label class="check" data-single-keys hidden><input type="checkbox"> Use shortcuts of single keys</label>
</div>
</div>`,
  }
}

function row({ keys, does }: Shortcut): Html {
  return html`<tr><td>${keys.map((key, at) => html`${at > 0 && ' '}<kbd>${key}</kbd>`)}</td><td>${does}</td></tr>`
}
