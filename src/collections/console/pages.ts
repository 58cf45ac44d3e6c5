/** The console pages of a collection. They show what the rules allow, as the API does. */
import type { Principal } from '../../platform/access/route-guards.ts'
import type { ConsolePages } from '../../platform/pages/console-pages.ts'
import { actorOf } from '../actor.ts'
import type { Action } from '../declare/rules.ts'
import { importId, importRows, type PlainBody } from '../transfer/created-rows.ts'
import { isRequired, samplesOf, toPlainField } from '../transfer/upload-fields.ts'
import { addBulkPages } from './bulk.routes.ts'
import { type CollectionPagesDeps, mayEver, type PagesContext, pageFor } from './context.ts'
import { labelOf, one, pathOf, titleOf, words } from './fields.ts'
import { editableFields } from './form-fields.ts'
import { addImportPages, type ImportPages } from './import.routes.ts'
import { addListPages } from './list.routes.ts'
import { addRelationSearch, searchRows } from './relations.routes.ts'
import { addRowPages } from './row.routes.ts'

const maxFound = 5

export function createCollectionPages(deps: CollectionPagesDeps): ConsolePages {
  const { collection } = deps.service
  const { name } = collection
  const what = one(collection)
  const path = pathOf(collection)
  const may = (action: Action) => (principal: Principal) => mayEver(collection, principal, action)
  return {
    navigation: [{ path, name: words(name), icon: 'page', order: 30, may: may('read') }],
    actions: [
      { path: `${path}/new`, name: `New ${what}`, may: may('create') },
      { path: `${path}/import`, name: `Import ${words(name).toLowerCase()}`, may: may('create') },
    ],
    finders: collection.lists.search.length > 0 ? [createFinder(deps)] : [],
    notices: {
      [`${name}-created`]: `${words(what)} created`,
      [`${name}-saved`]: `${words(what)} saved`,
      [`${name}-restored`]: `${words(what)} restored`,
    },
    routes: (kit) => (app) => {
      const context: PagesContext = { ...kit, ...deps }
      addListPages(app, context)
      addBulkPages(app, context)
      addRowPages(app, context)
      addRelationSearch(app, context)
      addImportPages(app, { ...importPages(deps), uploads: deps.uploads, send: kit.send })
    },
  }
}

function createFinder({ service }: CollectionPagesDeps): NonNullable<ConsolePages['finders']>[number] {
  const { collection } = service
  return {
    heading: words(collection.name),
    icon: 'page',
    may: (principal) => mayEver(collection, principal, 'read'),
    async find(q, principal) {
      const rows = await searchRows(service, { q, limit: maxFound, actor: actorOf(principal) })
      return (rows ?? []).map((row) => ({ path: `${pathOf(collection)}/${row.id}`, name: titleOf(collection, row) }))
    },
  }
}

function importPages({ service, imports }: CollectionPagesDeps): ImportPages<PlainBody> {
  const { collection } = service
  const fieldsFor = (principal: Principal) => editableFields(collection, principal, true)
  const names = (fields: readonly { name: string }[]) => fields.map(({ name }) => name)
  return {
    words: {
      one: collection.singular,
      many: collection.name,
      again: 'Import it again. Rows that it created in the last 24 hours are not created twice.',
      hint: 'Permissions, related rows and unique values are checked when you import.',
    },
    columnsFor(principal) {
      const fields = fieldsFor(principal)
      return {
        required: names(fields.filter(isRequired)),
        optional: names(fields.filter((field) => !isRequired(field))),
        samples: samplesOf(fields).map(labelOf),
      }
    },
    access: pageFor(service, 'create'),
    progress: imports,
    threadFor: (principal) => ({
      file: new URL('../transfer/row-upload-thread.ts', import.meta.url),
      data: { fields: fieldsFor(principal).map(toPlainField), moment: { userId: principal.id, now: epoch } },
    }),
    identify: (fileId, principal) => importId(collection.name, principal.id, fileId),
    write: (rows, { principal, ...job }) =>
      importRows(rows, { ...job, service, progress: imports, actor: actorOf(principal) }),
  }
}

/** What a default of `now` is in a preview, which does not show it. */
const epoch = '1970-01-01T00:00:00.000Z'
