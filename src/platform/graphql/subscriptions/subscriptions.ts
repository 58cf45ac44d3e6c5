/**
 * Subscriptions. All who ask for the same share a source: a value is resolved and written down once, however many wait
 * for it.
 */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getArgumentValues,
  Kind,
  type SelectionSetNode,
} from 'graphql'
import type { Principal } from '../../access/route-guards.ts'
import type { Bus } from '../../bus/bus.ts'
import { httpErrors } from '../../http/http-errors.ts'
import { rateKey } from '../../limiter/limiter.ts'
import type { Answer, Engine, LiveSubscription, Prepared, Subscriber } from '../execution/engine.types.ts'
import type { FairTurns } from '../execution/fair-turns.ts'
import { formatAppError, formatExecutionError, formatThrown } from '../execution/graphql-errors.ts'
import { RefusedRequest } from '../execution/refused-request.ts'
import type { Context, ContextLog, RootElement } from '../schema/elements.ts'
import type { Guards } from '../schema/guards.ts'
import { openSource, type Source } from './subscription-source.ts'

export interface SubscriptionsDeps {
  schema: GraphQLSchema
  guards: Guards
  bus: Bus
  log: ContextLog
  turns: FairTurns
  run(prepared: Prepared, context: Context, root: unknown): Promise<Answer>
  /** Notified of what subscriptions end with. */
  onErrors(errors: readonly GraphQLFormattedError[]): void
}

/** A source and all who hear it. */
interface Group {
  source: Source
  members: Set<Member>
  /** The address that asked for it, or `shared` once another one has joined. */
  line: string
}

/** Values go to the subscriber itself, which may be an instance of a class; its end is the group's business too. */
interface Member {
  readonly subscriber: Subscriber
  end: Subscriber['end']
}

/** The field that is subscribed to. */
interface Asked {
  element: Extract<RootElement, { kind: 'subscription' }>
  args: Record<string, unknown>
}

interface NewGroup {
  key: string
  prepared: Prepared
  asked: Asked
  context: Context
  line: string
}

/** Of groups whose members have several addresses: nobody delays them by filling the line of one. */
const sharedLine = 'shared'

const nobody = { address: '', userAgent: '' }

export function createSubscriptions({ schema, guards, bus, log, turns, run, onErrors }: SubscriptionsDeps) {
  const groups = new Map<string, Group>()
  const everybody: Context = { principal: undefined, client: nobody, log }
  let lastPersonal = 0
  let subscribers = 0
  let isClosed = false

  function start({ key, prepared, asked: { element, args }, context, line }: NewGroup): Group {
    const members = new Set<Member>()
    const end = (error?: unknown) => {
      groups.delete(key)
      const errors = error === undefined ? undefined : [formatThrown(error, context.log)]
      for (const member of members) member.end(errors)
    }
    const group: Omit<Group, 'source'> = { members, line }
    const source = openSource({
      element,
      args,
      context,
      bus,
      turns,
      line: () => group.line,
      async onValue(value) {
        // A context for each value: what was loaded for one is no answer for the next.
        const { text } = await run(prepared, Object.create(context) as Context, value)
        await tell(group, text)
      },
      onEnd: end,
    })
    return Object.assign(group, { source })
  }

  /** Whoever has left meanwhile, or has only just come, hears nothing. */
  async function tell({ members, line }: Omit<Group, 'source'>, text: string): Promise<void> {
    let told = 0
    for (const member of [...members]) {
      told += 1
      if (told % toldAtOnce === 0 && turns.isOver()) await turns.wait(line)
      if (members.has(member)) member.subscriber.next(text)
    }
  }

  function findGroup(prepared: Prepared, asked: Asked, context: Context): { key: string; group: Group } {
    const { document, operationName = '', variables } = prepared
    const isShared = asked.element.isShared ?? asked.element.access === 'public'
    if (!isShared) lastPersonal += 1
    const key = isShared ? `${document.id} ${operationName} ${JSON.stringify(variables)}` : `personal ${lastPersonal}`
    const line = rateKey(context.client.address)
    let group = groups.get(key)
    if (!group) {
      group = start({ key, prepared, asked, context: isShared ? everybody : context, line })
      groups.set(key, group)
    } else if (group.line !== line) group.line = sharedLine
    return { key, group }
  }

  const open: Engine['subscribe'] = async (prepared, { principal, client, log: ownLog }, subscriber) => {
    if (isClosed) throw new RefusedRequest('execution', [formatAppError(httpErrors.unavailable())])
    let user = principal
    const context: Context = {
      // Rights may change while it lasts.
      get principal() {
        return user
      },
      client,
      log: ownLog,
    }
    const asked = readField(schema, prepared, ownLog)
    const { element, args } = asked
    if (element.access !== 'public') {
      await guards.check(element, args, user).catch((error: unknown) => {
        throw new RefusedRequest('execution', [formatThrown(error, ownLog)])
      })
    }
    const { key, group } = findGroup(prepared, asked, context)
    let isOpen = true
    const leave = () => {
      if (!isOpen) return false
      isOpen = false
      subscribers -= 1
      group.members.delete(member)
      if (group.members.size === 0) {
        if (groups.get(key) === group) groups.delete(key)
        group.source.close()
      }
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
      async recheck(fresh: Principal) {
        user = fresh
        if (!isOpen || element.access === 'public') return
        await guards.check(element, args, fresh).catch((error: unknown) => member.end([formatThrown(error, ownLog)]))
      },
    } satisfies LiveSubscription
  }

  return {
    open,
    counts: () => ({ subscribers, sources: groups.size }),
    async close() {
      isClosed = true
      for (const { members } of [...groups.values()]) for (const member of [...members]) member.end()
    },
  }
}

/** Between two looks at the clock. */
const toldAtOnce = 32

/** Which element a subscription asks for, and with what. Validation has made sure that it is one. */
function readField(schema: GraphQLSchema, { document, operationName, variables }: Prepared, log: ContextLog): Asked {
  const { node } = document.operation(operationName)
  const fragments = new Map(
    document.node.definitions
      .filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION)
      .map((each) => [each.name.value, each]),
  )
  const field = firstField(node.selectionSet, fragments)
  const definition = field && schema.getSubscriptionType()?.getFields()[field.name.value]
  const element = definition?.extensions.element
  if (!definition || element?.kind !== 'subscription') {
    throw new RefusedRequest('execution', [{ message: 'The subscription names no field' }])
  }
  try {
    return { element, args: getArgumentValues(definition, field, variables) }
  } catch (error) {
    // A variable that is null where an argument with a default may not be.
    if (!(error instanceof GraphQLError)) throw error
    throw new RefusedRequest('execution', [formatExecutionError(error, log)])
  }
}

function firstField(
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): FieldNode | undefined {
  for (const each of selections) {
    if (each.kind === Kind.FIELD) return each
    const inner = each.kind === Kind.INLINE_FRAGMENT ? each : fragments.get(each.name.value)
    const field = inner && firstField(inner.selectionSet, fragments)
    if (field) return field
  }
  return undefined
}
