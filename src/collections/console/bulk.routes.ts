/** What can be done to the rows that are selected in a list. Each is changed on its own, under its rules. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Principal, principalOf } from '../../platform/access/route-guards.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import { parseId } from '../../platform/http/ids.ts'
import { type Problems, problemsOf } from '../../platform/pages/components/forms.ts'
import { markAsForm } from '../../platform/validation/body-validation.ts'
import type { Row } from '../actor.ts'
import type { Described, DescribedField } from '../declare/describe.ts'
import { askPage, bulkResultPage, valueName } from './bulk.views.ts'
import { actorFor, findRow, mayEver, type PagesContext, page, readTitles } from './context.ts'
import { labelOf, titleOf } from './fields.ts'
import { editableFields, type Form, optionsOf, toBody } from './form-fields.ts'
import type { BulkAction } from './list.views.ts'

/** At once. */
const maxPicked = 100

/** Deletion, each value of the choices that this user may set, and the other fields, whose value is asked for. */
export function actionsFor(collection: Described, principal: Principal): BulkAction[] {
  const editable = mayEver(collection, principal, 'update') ? editableFields(collection, principal, false) : []
  const values = editable.flatMap((field): BulkAction[] => {
    const options = optionsOf(field)
    if (!options) return [[`set:${field.name}`, `Set ${labelOf(field)}…`]]
    return options.map(([value, text]) => [
      `${field.name}=${value}`,
      `Set ${labelOf(field)}: ${value === '' ? 'none' : field.kind === 'boolean' ? text.toLowerCase() : text}`,
    ])
  })
  return [...values, ...(mayEver(collection, principal, 'delete') ? [['delete', 'Delete'] as const] : [])]
}

interface Pick {
  id: number
  version: number | undefined
}

interface Given {
  request: FastifyRequest
  reply: FastifyReply
  form: Form
  action: string
  picks: readonly Pick[]
  back: string
}

export function addBulkPages(app: FastifyInstance, context: PagesContext): void {
  const { service, send, includes } = context
  const { collection } = service

  /** Changes one after the other. Those that are refused are told with the reason. */
  async function each({ request, picks }: Given, change: (pick: Pick) => Promise<unknown>) {
    const ids: number[] = []
    const refused: { id: number; title: string; reason: string; problems: Problems }[] = []
    for (const pick of picks) {
      try {
        await change(pick)
        ids.push(pick.id)
      } catch (error) {
        const { problems } = problemsOf(error)
        const found = await findRow(service, pick.id, actorFor(request))
        const title = found ? titleOf(collection, found.row) : `ID ${pick.id}`
        const reason = problems.message ?? Object.values(problems.fields).flat().join('. ')
        refused.push({ id: pick.id, title, reason, problems })
      }
    }
    return { ids, refused }
  }

  type Outcome = Awaited<ReturnType<typeof each>>

  function tell({ request, reply, back }: Given, outcome: Outcome, done: string): FastifyReply {
    const canBeUndone = done === 'deleted' && collection.keptMs !== undefined
    const result = bulkResultPage(collection, { done, ...outcome, back, canBeUndone })
    return send(request, reply, result, outcome.refused.length > 0 ? 409 : 200)
  }

  const update = (given: Given, body: () => object) =>
    each(given, ({ id, version }) =>
      service.update(id, markAsForm({ ...body() }), actorFor(given.request), isAt(version)),
    )

  async function ask(given: Given, field: DescribedField, problems?: Problems): Promise<FastifyReply> {
    const { request, reply, form, action, picks, back } = given
    const actor = actorFor(request)
    const found = await Promise.all(picks.map(({ id }) => findRow(service, id, actor)))
    const value = String(form[valueName] ?? '')
    const asked = {
      action,
      back,
      field,
      value,
      picks: picks.map(({ id, version }) => `${id}:${version ?? ''}`),
      rows: found.flatMap((each): Row[] => (each ? [each.row] : [])),
      titles: await readTitles(collection, [{ [field.name]: value.split('\n') }], { includes, actor }),
      ...(problems && { problems }),
    }
    return send(request, reply, askPage(collection, asked), problems ? 422 : 200)
  }

  async function setAsked(given: Given, field: DescribedField): Promise<FastifyReply> {
    if (given.picks.length === 0) return tell(given, { ids: [], refused: [] }, 'updated')
    if (given.form.step !== 'confirmed') return ask(given, field)
    const text = String(given.form[valueName] ?? '').replaceAll('\r\n', '\n')
    const outcome = await update(given, () => toBody({ [field.name]: text }, [field]))
    // What is wrong with the value of one is so for all.
    const problems = outcome.refused[0]?.problems
    const isWrong = Object.keys(problems?.fields ?? {}).some((path) => path.split('.')[0] === field.name)
    return isWrong && outcome.ids.length === 0 ? ask(given, field, problems) : tell(given, outcome, 'updated')
  }

  app.post<{ Body: Form }>(`/${collection.name}/bulk`, page, async (request, reply) => {
    const form = request.body ?? {}
    const action = String(form.action ?? '')
    const actor = actorFor(request)
    const given = { request, reply, form, action, picks: readPicks(form.pick), back: String(form.back ?? '') }
    if (given.picks.length > maxPicked) throw httpErrors.malformedRequest()
    if (action === 'restore') return tell(given, await each(given, ({ id }) => service.restore(id, actor)), 'restored')
    const known = actionsFor(collection, principalOf(request)).some(([value]) => value === action)
    if (!known) throw httpErrors.malformedRequest()
    if (action === 'delete') {
      return tell(given, await each(given, ({ id, version }) => service.delete(id, actor, isAt(version))), 'deleted')
    }
    const [, asked] = /^set:(.+)$/.exec(action) ?? []
    if (asked !== undefined) return setAsked(given, collection.fields.get(asked) as DescribedField)
    const [field = '', value] = action.split(/=(.*)/s)
    return tell(given, await update(given, () => ({ [field]: value })), 'updated')
  })
}

/** Without a version, whatever it is. */
function isAt(version: number | undefined) {
  return version === undefined ? undefined : (etag: string) => etag.startsWith(`"${version}-`)
}

/** `id` or `id:version`, each row once. */
function readPicks(given: unknown): Pick[] {
  const picks = [given ?? []].flat().flatMap((text): [number, Pick][] => {
    const [id, version] = String(text)
      .split(':')
      .map((part) => parseId(part))
    return id === undefined ? [] : [[id, { id, version }]]
  })
  return [...new Map(picks).values()]
}
