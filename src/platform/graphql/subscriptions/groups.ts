/**
 * All who subscribed to the same share a source: a value is resolved and written down once, however many wait for it.
 */
import type { Bus } from '../../bus/bus.ts'
import { rateKey } from '../../limiter/limiter.ts'
import type { Answer, Prepared, Subscriber } from '../execution/engine.types.ts'
import type { FairTurns } from '../execution/fair-turns.ts'
import { formatThrown } from '../execution/graphql-errors.ts'
import type { Context, ContextLog } from '../schema/elements.ts'
import type { AskedField } from './asked-field.ts'
import { openSource, type Source } from './subscription-source.ts'

export interface GroupsDeps {
  bus: Bus
  log: ContextLog
  turns: FairTurns
  run(prepared: Prepared, context: Context, root: unknown): Promise<Answer>
}

/** A source and all who hear it. */
export interface Group {
  readonly key: string
  readonly source: Source
  readonly members: Set<Member>
  /** The address that asked for it, or `shared` once another one has joined. */
  line: string
}

/** Values go to the subscriber itself, which may be an instance of a class; its end is the group's business too. */
export interface Member {
  readonly subscriber: Subscriber
  end: Subscriber['end']
}

/** A group that has no source yet. */
type Hearers = Omit<Group, 'source'>

interface NewGroup {
  hearers: Hearers
  prepared: Prepared
  asked: AskedField
  context: Context
}

/** Of groups whose members have several addresses: nobody delays them by filling the line of one. */
const sharedLine = 'shared'

/** Between two looks at the clock. */
const toldAtOnce = 32

const nobody = { address: '', userAgent: '' }

export function createGroups({ bus, log, turns, run }: GroupsDeps) {
  const groups = new Map<string, Group>()
  const everybody: Context = { principal: undefined, client: nobody, log }
  let lastPersonal = 0

  function start({ hearers, prepared, asked, context }: NewGroup): Group {
    const source = openSource({
      element: asked.element,
      args: asked.args,
      context,
      bus,
      turns,
      line: () => hearers.line,
      async onValue(value) {
        // A context for each value: what was loaded for one is no answer for the next.
        const { text } = await run(prepared, Object.create(context) as Context, value)
        await tell(hearers, text)
      },
      onEnd(error) {
        groups.delete(hearers.key)
        const errors = error === undefined ? undefined : [formatThrown(error, context.log)]
        for (const member of hearers.members) member.end(errors)
      },
    })
    return Object.assign(hearers, { source })
  }

  /** Whoever has left meanwhile, or has only just come, hears nothing. */
  async function tell({ members, line }: Hearers, text: string): Promise<void> {
    let told = 0
    for (const member of [...members]) {
      told += 1
      if (told % toldAtOnce === 0 && turns.isOver()) await turns.wait(line)
      if (members.has(member)) member.subscriber.next(text)
    }
  }

  return {
    /** Starts one where nobody has asked for the same. */
    find(prepared: Prepared, asked: AskedField, context: Context): Group {
      const { document, operationName = '', variables } = prepared
      const isShared = asked.element.isShared ?? asked.element.access === 'public'
      if (!isShared) lastPersonal += 1
      const key = isShared ? `${document.id} ${operationName} ${JSON.stringify(variables)}` : `personal ${lastPersonal}`
      const line = rateKey(context.client.address)
      let group = groups.get(key)
      if (!group) {
        const hearers = { key, members: new Set<Member>(), line }
        group = start({ hearers, prepared, asked, context: isShared ? everybody : context })
        groups.set(key, group)
      } else if (group.line !== line) group.line = sharedLine
      return group
    },

    /** The last one to leave closes the source. */
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
