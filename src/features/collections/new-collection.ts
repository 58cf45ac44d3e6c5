/** In development, a new collection begins as a file with a declaration to edit. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { hyphenatedName } from '../../core/text.ts'
import type { Database } from '../../platform/database/database.ts'
import { field, noProblems, type Problems, problemNote, problemsOf } from '../../platform/pages/components/forms.ts'
import type { PageKit } from '../../platform/pages/console-pages.ts'
import { html } from '../../platform/pages/html.ts'
import type { Page } from '../../platform/pages/pages.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { hasTable } from './collections.store.ts'

export interface NewCollectionDeps extends Pick<PageKit, 'send'> {
  db: Database
  /** The folder of the configuration, from which it names extensions. */
  directory: string
  /** Of the list. */
  path: string
}

export const mayCreate = { permission: 'collections.create' } as const
const page = { config: { access: mayCreate, docs: false } } as const
/** As in a declaration. */
const maxName = 40

export function addNewCollectionPages(app: FastifyInstance, { send, db, directory, path }: NewCollectionDeps): void {
  app.get('/collections/new', page, async (request, reply) => send(request, reply, formPage(path)))

  app.post<{ Body: { name?: unknown } }>('/collections/new', page, async (request, reply) => {
    const name = String(request.body?.name ?? '').trim()
    try {
      const file = join(dirname(directory), 'collections', `${name}.ts`)
      const source = await create(db, { name, file })
      return await send(request, reply, writtenPage({ file, source, extension: relative(directory, file) }))
    } catch (error) {
      const { problems, status } = problemsOf(error)
      return send(request, reply, formPage(path, { name, problems }), status)
    }
  })
}

/** Writes the file, and returns what is in it. */
async function create(db: Database, { name, file }: { name: string; file: string }): Promise<string> {
  if (name === '') throw validationFailed({ name: ['Must not be blank'] })
  if (!hyphenatedName.test(name)) throw validationFailed({ name: ['Must be lower-case words, joined by hyphens'] })
  if (name.length > maxName) throw validationFailed({ name: [`Must be at most ${maxName} characters`] })
  if (await hasTable(db, name.replaceAll('-', '_'))) throw validationFailed({ name: ['Is already taken'] })
  const source = declarationOf(name)
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, source, { flag: 'wx' })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw validationFailed({
      name: [code === 'EEXIST' ? `There is already a file ${file}` : `Cannot write ${file} (${code})`],
    })
  }
  return source
}

function declarationOf(name: string): string {
  return `import { users } from 'latchkey'
import { belongsTo, choice, collection, me, never, row, signedIn, text } from 'latchkey/collections'

export default collection({
  name: '${name}',
  fields: {
    title: text({ min: 2, max: 200 }),
    notes: text({ max: 20_000, multiline: true, optional: true }),
    status: choice(['open', 'closed'], { default: 'open' }),
    owner: belongsTo(users, { default: me, writable: never }),
  },
  rules: {
    read: row.owner.is(me),
    create: signedIn,
    update: row.owner.is(me),
    delete: row.owner.is(me),
  },
  sort: ['title', 'updated_at'],
  filter: ['status'],
  search: ['title'],
})
`
}

function formPage(
  path: string,
  { name = '', problems = noProblems }: { name?: string; problems?: Problems } = {},
): Page {
  return {
    title: 'New collection',
    content: html`<section class="medium card">
<h1>New collection</h1>
<p>Writes a file with a declaration to edit.</p>
${problemNote(problems)}
<form method="post" action="${path}/new">
${field({ label: 'Name', name: 'name', value: name, problems, required: true, maxlength: maxName, autocomplete: 'off', autofocus: true, hint: 'Plural, in lower case, such as invoices or project-plans.' })}
<button class="main">Create collection</button>
</form>
<p class="beside"><a href="${path}">Back to the collections</a></p>
</section>`,
  }
}

function writtenPage({ file, source, extension }: { file: string; source: string; extension: string }): Page {
  return {
    title: 'Collection created',
    // The page cannot be opened again.
    address: false,
    content: html`<section class="card">
<p class="notice" role="status">Collection created</p>
<h1>Edit the declaration</h1>
<ol>
<li>Edit <code>${file}</code>.</li>
<li>Add it to <code>extensions</code> in the configuration: <code>extensions = ["${extension}"]</code></li>
<li>Restart the service. It creates the table, and <code>npm run dev</code> restarts by itself.</li>
</ol>
<pre><code>${source}</code></pre>
</section>`,
  }
}
