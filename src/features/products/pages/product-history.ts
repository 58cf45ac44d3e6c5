/** What has happened to a product, from the change log: what changed with each version, and who did it. */
import type { ChangeRow } from '../../../platform/changes/change.ts'
import type { ChangeLog } from '../../../platform/changes/change-log.ts'
import { excerpts } from '../../../platform/pages/components/excerpts.ts'
import type { UsersService } from '../../users/users.create.ts'
import type { Product } from '../product.ts'
import { parseStored, productTopic } from '../product-topic.ts'
import { type FormField, formFields } from './form-fields.ts'

export interface Version {
  /** The type of its entry, such as `product.updated`. */
  type: string
  at: string
  /** Who did it, in words. */
  actor: string
  /** Undefined if the version before it is not kept. */
  changes: readonly FieldChange[] | undefined
}

export interface FieldChange {
  label: string
  from: string
  to: string
}

export interface History {
  /** Newest first. */
  versions: readonly Version[]
  /** The name as of the first of them. */
  name: string | undefined
  /** Where older ones begin, if there are any. */
  before: number | undefined
  /** The beginning is missing: it was removed, or is older than the log. */
  isCut: boolean
  /** How long the log is kept; 0 is for ever. */
  retentionDays: number
}

/** A change of any product. */
export interface RecentChange {
  type: string
  at: string
  actor: string
  product: { id: number; name: string }
}

/** Who looks at it. */
export interface Reader {
  id: number
  seesNames: boolean
  seesEmails: boolean
}

export interface HistoryQuery {
  id: number
  before?: number | undefined
  limit: number
  reader: Reader
}

export interface HistoryDeps {
  changes: Pick<ChangeLog, 'store'>
  users: Pick<UsersService, 'findNames'>
  retentionDays: number
}

/** Descriptions may be a megabyte. */
const maxBytes = 512 * 1024
/** Of a product in a list of which only the name is shown. */
const maxListedBytes = 16 * 1024

export type ProductHistory = ReturnType<typeof createProductHistory>

export function createProductHistory({ changes, users, retentionDays }: HistoryDeps) {
  async function describeActors(rows: readonly ChangeRow[], reader: Reader): Promise<(id: number | null) => string> {
    const ids = new Set(rows.flatMap(({ actor_id }) => actor_id ?? []))
    const found = ids.size > 0 ? await users.findNames([...ids]) : []
    const byId = new Map(found.map((user) => [user.id, user]))
    return (id) => {
      // The log knows users only. Without one, it was a command, an extension or somebody in the database.
      if (id === null) return 'a command or a program'
      if (id === reader.id) return 'you'
      const user = byId.get(id)
      if (!user) return 'a deleted user'
      const name = reader.seesNames ? user.name : ''
      if (reader.seesEmails) return name === '' ? user.email : `${name} (${user.email})`
      return name === '' ? `user ${id}` : name
    }
  }

  return {
    /** Of all products, newest first. */
    async readRecent({ limit, reader }: Pick<HistoryQuery, 'limit' | 'reader'>): Promise<RecentChange[]> {
      const rows = await changes.store.readNewest({ topic: productTopic.topic, limit, maxDataBytes: maxListedBytes })
      const nameOf = await describeActors(rows, reader)
      return rows.map(({ type, at, actor_id, entity_id, data }) => {
        const id = entity_id as number
        const name = data === '' ? `Product ${id}` : parseStored(data).name
        return { type, at, actor: nameOf(actor_id), product: { id, name } }
      })
    },

    async read({ id, before, limit, reader }: HistoryQuery): Promise<History> {
      const query = { topic: productTopic.topic, entityId: id, before, limit, maxBytes }
      const { entries, previous } = await changes.store.readHistory(query)
      const nameOf = await describeActors(entries, reader)
      const products = [...entries, ...(previous ? [previous] : [])].map(({ data }) => parseStored(data))
      const versions = entries.map(({ type, at, actor_id }, i) => {
        return { type, at, actor: nameOf(actor_id), changes: compare(type, products[i] as Product, products[i + 1]) }
      })
      return {
        versions,
        name: products[0]?.name,
        before: previous && entries.at(-1)?.id,
        isCut: !previous && versions.at(-1)?.type !== 'product.created',
        retentionDays,
      }
    },
  }
}

function compare(type: string, product: Product, before: Product | undefined): FieldChange[] | undefined {
  // A deleted one is logged as it last was.
  if (type === 'product.created' || type === 'product.deleted') return []
  if (!before) return undefined
  return formFields.flatMap(([, field]) => {
    if (field.toValue(product) === field.toValue(before)) return []
    const [from, to] = excerpts(textOf(field, before), textOf(field, product))
    return { label: field.label, from, to }
  })
}

function textOf({ checkbox, toText, toValue }: FormField, product: Product): string {
  if (checkbox) return toValue(product) === 'true' ? 'yes' : 'no'
  return (toText ?? toValue)(product)
}
