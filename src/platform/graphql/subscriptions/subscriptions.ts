/** Opens subscriptions: checks access, joins a group of identical ones, and checks again when rights change. */
import type { GraphQLFormattedError } from 'graphql'
import { httpErrors } from '../../http/http-errors.ts'
import type { Engine, LiveSubscription } from '../execution/engine.types.ts'
import { formatAppError, formatThrown } from '../execution/graphql-errors.ts'
import { RefusedRequest } from '../execution/refused-request.ts'
import type { Context } from '../schema/elements.ts'
import type { Guards } from '../schema/guards.ts'
import type { Schemas } from '../schema/schema.ts'
import { createGroups, type GroupsDeps, type Member } from './groups.ts'
import { getSubscriptionField } from './subscription-field.ts'

export interface SubscriptionsDeps extends GroupsDeps {
  schemas: Pick<Schemas, 'public'>
  guards: Guards
  /** Called with the errors that end a subscription. */
  onErrors(errors: readonly GraphQLFormattedError[]): void
}

export function createSubscriptions({ schemas, guards, onErrors, ...deps }: SubscriptionsDeps) {
  const groups = createGroups(deps)
  let subscribers = 0
  let isClosed = false

  const open: Engine['subscribe'] = async (prepared, { principal, client, log }, subscriber) => {
    if (isClosed) throw new RefusedRequest('execution', [formatAppError(httpErrors.unavailable())])
    const context: Context = { principal, client, log }
    const field = getSubscriptionField(schemas.public, prepared, log)
    const { element, args } = field
    if (element.access !== 'public') {
      await guards.check(element, args, principal).catch((error: unknown) => {
        throw new RefusedRequest('execution', [formatThrown(error, log)])
      })
    }
    const group = groups.join(prepared, field, context)
    let isOpen = true
    const leave = () => {
      if (!isOpen) return false
      isOpen = false
      subscribers -= 1
      groups.leave(group, member)
      return true
    }
    const member: Member = {
      subscriber,
      end(errors) {
        if (!leave()) return
        if (errors) onErrors(errors)
        subscriber.end(errors)
      },
    }
    group.members.add(member)
    subscribers += 1
    await group.source.started
    return {
      close: () => void leave(),
      async recheck() {
        if (!isOpen || element.access === 'public') return
        await guards.check(element, args, principal).catch((error: unknown) => member.end([formatThrown(error, log)]))
      },
    } satisfies LiveSubscription
  }

  return {
    open,
    counts: () => ({ subscribers, sources: groups.count() }),
    async close() {
      isClosed = true
      groups.endAll()
    },
  }
}
