/** The help desk of the examples, whose migrations are written to a temporary folder. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadExtensions } from '../../src/app/load-extensions.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import type { Feature } from '../../src/platform/feature.ts'
import type { ApiOptions, Owner } from './api.ts'
import { temporaryFolder } from './databases.ts'
import type { SignedIn } from './people.ts'
import { type ApiWithRoles, startApiWithRoles } from './roles.ts'

export const helpdeskSource = join(import.meta.dirname, '..', '..', 'examples', 'helpdesk', 'helpdesk.ts')

/** The module in a folder of its own, so that each has its own migrations. */
export async function loadHelpdesk(t: Owner): Promise<Feature[]> {
  const folder = temporaryFolder(t)
  copyFileSync(helpdeskSource, join(folder, 'helpdesk.ts'))
  return loadExtensions([join(folder, 'helpdesk.ts')], folder)
}

export interface Helpdesk extends ApiWithRoles {
  ada: SignedIn
  grace: SignedIn
  /** May see and change all tickets, and their costs. */
  chief: SignedIn
}

export async function startHelpdesk(t: Owner, engine: Dialect, options: ApiOptions = {}): Promise<Helpdesk> {
  const extensions = [...(await loadHelpdesk(t)), ...(options.extensions ?? [])]
  const api = await startApiWithRoles(t, { ...options, engine, extensions })
  const [ada, grace, chief] = [await api.signInAs('user'), await api.signInAs('user'), await api.signInAs('admin')]
  return { ...api, ada, grace, chief }
}
