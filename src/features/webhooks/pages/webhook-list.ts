/** Sorts and filters webhooks, of which there are at most a hundred. */
import type { ListDefinition, Sort } from '../../../platform/listing/list-definition.ts'
import { readListQuery } from '../../../platform/listing/list-query.ts'
import { type ListParameters, withoutBlanks } from '../../../platform/pages/components/list-links.ts'
import type { Webhook } from '../webhook.ts'

export const webhookStates = ['on', 'failing', 'off'] as const

const orders: ListDefinition = {
  table: 'webhooks',
  condition: 'TRUE',
  fields: {
    created_at: { column: 'created_at', type: 'time', isSortable: true },
    url: { column: 'url', type: 'text', isSortable: true },
    status: { column: 'status', type: 'text', isSortable: true, filter: 'equal', values: webhookStates },
  },
  indexes: [],
  defaultSort: { field: 'created_at', isDescending: false },
}

export interface ChosenWebhooks {
  rows: Webhook[]
  query: ListParameters
  sort: Sort
}

/** Throws 422 with all that is wrong. */
export function chooseWebhooks(webhooks: readonly Webhook[], given: Readonly<Record<string, unknown>>): ChosenWebhooks {
  const known = Object.entries(withoutBlanks(given)).filter(([name]) => name === 'sort' || name.startsWith('filter'))
  const query = Object.fromEntries(known)
  const { sort, filters } = readListQuery(query, orders)
  const rows = webhooks.filter((webhook) => filters.status === undefined || stateOf(webhook) === filters.status.equal)
  rows.sort((a, b) => {
    const [x, y] = [keyOf(a, sort.field), keyOf(b, sort.field)]
    const order = x < y ? -1 : x > y ? 1 : a.id - b.id
    return sort.isDescending ? -order : order
  })
  return { rows, query, sort }
}

function keyOf(webhook: Webhook, field: string): string {
  if (field === 'url') return webhook.url
  return field === 'status' ? stateOf(webhook) : webhook.created_at
}

function stateOf({ enabled, failing_since }: Webhook): (typeof webhookStates)[number] {
  if (!enabled) return 'off'
  return failing_since === null ? 'on' : 'failing'
}
