/** Identical subscriptions form a group with one source: a value is resolved and serialized once for all of them. */
import type { Bus } from '../../bus/bus.ts'
import { rateKey } from '../../limiter/limiter.ts'
import type { GraphQLResponse, Prepared, Subscriber } from '../execution/engine.types.ts'
import type { FairScheduler } from '../execution/fair-scheduler.ts'
import { formatThrown } from '../execution/graphql-errors.ts'
import type { Context, ContextLog } from '../schema/elements.ts'
import { createSharedLists, type Responses } from './shared-lists.ts'
import type { SubscriptionField } from './subscription-field.ts'
import { openSource, type Source } from './subscription-source.ts'

export interface GroupsDeps {
  bus: Bus
  log: ContextLog
  scheduler: FairScheduler
  run(prepared: Prepared, context: Context, root: unknown): Promise<GraphQLResponse>
}

export interface Group {
  readonly key: string
  readonly source: Source
  readonly members: Set<Member>
  /** The scheduler queue: of the first member's address, or `sharedQueue` once another address has joined. */
  queueKey: string
}

/** `end` also leaves the group. `subscriber` may be a class instance, whose methods need their `this`. */
export interface Member {
  readonly subscriber: Subscriber
  end: Subscriber['end']
}

/** A group before its source is open. */
type PendingGroup = Omit<Group, 'source'>

interface NewGroup {
  group: PendingGroup
  prepared: Prepared
  field: SubscriptionField
  context: Context
}

/** For groups with members of several addresses, so that no single address can delay them by filling its own queue. */
const sharedQueue = 'shared'

/** Subscribers notified between two checks of the time budget. */
const notifiedPerCheck = 32

const sharingOf = ({ element }: SubscriptionField) => element.isShared ?? element.access === 'public'

const anonymousClient = { address: '', userAgent: '' }

export function createGroups({ bus, log, scheduler, run }: GroupsDeps) {
  const groups = new Map<string, Group>()
  const anonymousContext: Context = { principal: undefined, client: anonymousClient, log }
  const sharedLists = createSharedLists()
  let lastPersonal = 0

  /** Returns the responses for what the source has yielded. */
  function createResolver({ group, prepared, field, context }: NewGroup): (value: unknown) => Promise<Responses> {
    // A new context per value: field loaders cache by context.
    const execute = async (value: unknown) => (await run(prepared, Object.create(context) as Context, value)).text
    if (sharingOf(field) !== 'lists') return async (value) => [[await execute(value)]]
    const key = sharedLists.selectionKeyOf(prepared)
    async function executeAll(values: readonly unknown[]): Promise<string[]> {
      const texts: string[] = []
      for (const value of values) {
        if (scheduler.isBudgetSpent()) await scheduler.wait(group.queueKey)
        texts.push(await execute(value))
      }
      return texts
    }
    return (list) => sharedLists.find(list as object, key, () => executeAll(list as unknown[]))
  }

  function start(made: NewGroup): Group {
    const { group, field, context } = made
    const resolve = createResolver(made)
    const isAlone = sharingOf(field) !== true
    const source = openSource({
      element: field.element,
      args: field.args,
      context,
      bus,
      scheduler,
      queueKey: () => group.queueKey,
      async onValue(value) {
        for (const texts of await resolve(value)) {
          await notify(group, texts)
          // Alone, a slow client holds up nobody else, and need not be cut off.
          if (isAlone) for (const { subscriber } of group.members) await subscriber.ready?.()
        }
      },
      onEnd(error) {
        groups.delete(group.key)
        const errors = error === undefined ? undefined : [formatThrown(error, context.log)]
        for (const member of group.members) member.end(errors)
      },
    })
    return Object.assign(group, { source })
  }

  /** Skips members that leave, or join, while the value is being delivered. */
  async function notify({ members, queueKey }: PendingGroup, texts: readonly string[]): Promise<void> {
    let notified = 0
    for (const member of [...members]) {
      notified += 1
      if (notified % notifiedPerCheck === 0 && scheduler.isBudgetSpent()) await scheduler.wait(queueKey)
      if (members.has(member)) member.subscriber.next(texts)
    }
  }

  return {
    /** Opens a source for the first of identical subscriptions. */
    join(prepared: Prepared, field: SubscriptionField, context: Context): Group {
      const { document, operationName = '', variables } = prepared
      const sharing = sharingOf(field)
      const canShare = sharing === true
      if (!canShare) lastPersonal += 1
      const key = canShare ? `${document.id} ${operationName} ${JSON.stringify(variables)}` : `personal ${lastPersonal}`
      const queueKey = rateKey(context.client.address)
      let group = groups.get(key)
      if (!group) {
        const pending = { key, members: new Set<Member>(), queueKey }
        group = start({ group: pending, prepared, field, context: sharing === false ? context : anonymousContext })
        groups.set(key, group)
      } else if (group.queueKey !== queueKey) group.queueKey = sharedQueue
      return group
    },

    /** Closes the source when the last member leaves. */
    leave(group: Group, member: Member): void {
      group.members.delete(member)
      if (group.members.size > 0) return
      if (groups.get(group.key) === group) groups.delete(group.key)
      group.source.close()
    },

    count: () => groups.size,

    endAll(): void {
      for (const { members } of [...groups.values()]) for (const member of [...members]) member.end()
    },
  }
}
