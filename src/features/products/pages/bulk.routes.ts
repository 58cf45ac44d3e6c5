/**
 * One form for the selected rows of the list. What cannot be taken back or depends on a value is asked first, on a page that
 * shows what will happen.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { parseId } from '../../../platform/http/ids.ts'
import type { Problems } from '../../../platform/pages/components/forms.ts'
import { compileBody, markAsForm } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import { isPrice, type Outcome, priceAfter } from '../bulk-changes.ts'
import { formatPrice, type Product, type ProductChange } from '../product.ts'
import { ChangedProduct, toChange } from '../products.schema.ts'
import type { Picked } from '../products.store.ts'
import { type Asked, askPage, type BulkAction, type Preview, resultPage } from './bulk.views.ts'
import { maxPicks } from './bulk-notices.ts'
import { backAddress } from './list-address.ts'
import { percentProblem, readPercent } from './percent.ts'
import type { Form } from './product-forms.ts'
import type { ProductPagesDeps } from './product-pages.ts'

/** Of products whose new price is impossible. */
const maxNamed = 5

export function addBulkPages(app: FastifyInstance, deps: ProductPagesDeps): void {
  const { forms, bulk, notices } = deps
  const writing = { config: { access: forms.writeAccess, docs: false } } as const
  const { ask, tell } = createResponses(deps)

  const actions: Readonly<Record<string, (given: Given) => Promise<FastifyReply>>> = {
    activate: async (given) =>
      tell(given, await update(given, ({ active }) => (active ? undefined : { active: true }))),
    deactivate: async (given) =>
      tell(given, await update(given, ({ active }) => (active ? { active: false } : undefined))),
    async category(given) {
      const { category, problems } = readCategory(given)
      if (!given.isConfirmed || problems) return ask(given, 'category', problems ? { problems } : {})
      return tell(given, await update(given, (product) => (product.category === category ? undefined : { category })))
    },
    async price(given) {
      const { form, picked } = given
      if (form.step !== 'preview' && !given.isConfirmed) return ask(given, 'price', {})
      const hundredths = readPercent(String(form.percent ?? ''))
      const { current } = await bulk.read(picked)
      const problem = percentProblem(hundredths) ?? impossiblePrices(current, hundredths ?? 0)
      if (problem !== undefined) return ask(given, 'price', { problems: { fields: { percent: [problem] } } })
      const after = ({ price_cents }: Product) => priceAfter(price_cents, hundredths ?? 0)
      if (!given.isConfirmed) return ask(given, 'price', { preview: after })
      const changed = await update(given, (product) => {
        const price_cents = after(product)
        return price_cents === product.price_cents ? undefined : { price_cents }
      })
      return tell(given, changed)
    },
    async delete(given) {
      if (!given.isConfirmed) return ask(given, 'delete', {})
      return tell(given, await bulk.delete(given.picked, given.by), { isDeletion: true })
    },
    async restore({ reply, picked, by, back }) {
      const count = await bulk.restore(
        picked.map(({ id }) => id),
        by,
      )
      return notices.redirect(reply, { address: back, notice: `products-restored-${count}` })
    },
  }

  const update = ({ picked, by }: Given, toWanted: (product: Product) => ProductChange | undefined) =>
    bulk.update(picked, toWanted, by)

  app.post<{ Body: Form }>('/products/bulk', writing, async (request, reply) => {
    const form = request.body ?? {}
    const given: Given = {
      request,
      reply,
      form,
      picked: readPicks(form.pick),
      back: backAddress(form.back),
      by: principalOf(request).id,
      isConfirmed: form.step === 'confirmed',
    }
    const act = Object.hasOwn(actions, String(form.action)) ? actions[String(form.action)] : undefined
    if (!act || given.picked.length === 0) {
      return notices.redirect(reply, { address: given.back, notice: 'products-none-picked' })
    }
    return act(given)
  })
}

interface Given {
  request: FastifyRequest
  reply: FastifyReply
  form: Form
  picked: readonly Picked[]
  /** The list that the rows were selected in. */
  back: string
  by: number
  isConfirmed: boolean
}

function createResponses({ forms, bulk, notices, send }: ProductPagesDeps) {
  /** What is typed is asked for, and what will happen is shown. */
  async function ask(
    { request, reply, form, picked, back }: Given,
    action: BulkAction,
    { problems, preview }: { problems?: Problems; preview?: Preview },
  ): Promise<FastifyReply> {
    const found = await bulk.read(picked)
    const asked: Asked = {
      action,
      picked,
      back: String(form.back ?? ''),
      address: back,
      found,
      percent: String(form.percent ?? ''),
      category: String(form.category ?? ''),
      categories: action === 'category' ? await forms.suggestCategories() : [],
      ...(problems && { problems }),
      ...(preview && { preview }),
    }
    return send(request, reply, askPage(asked), problems ? 422 : 200)
  }

  /** On the list, unless there is more to say than how many. */
  async function tell(
    { request, reply, form, back }: Given,
    outcome: Outcome,
    { isDeletion = false } = {},
  ): Promise<FastifyReply> {
    const { changed, same, stale, gone } = outcome
    if (!isDeletion && same + stale.length + gone === 0) {
      return notices.redirect(reply, { address: back, notice: `products-changed-${changed.length}` })
    }
    return send(request, reply, resultPage({ outcome, isDeletion, address: back, back: String(form.back ?? '') }))
  }

  return { ask, tell }
}

const validateCategory = compileBody(Type.Object({ category: ChangedProduct.properties.category }))

function readCategory({ form, isConfirmed }: Given): { category: string; problems?: Problems } {
  const typed = markAsForm({ category: String(form.category ?? '') })
  const outcome = validateCategory(typed)
  if ('error' in outcome && isConfirmed) {
    return { category: '', problems: { fields: outcome.error.extra?.details as Record<string, string[]> } }
  }
  return { category: toChange({ category: typed.category }).category ?? '' }
}

/** `id:version`, each product once. */
function readPicks(given: unknown): Picked[] {
  const picks = new Map<number, Picked>()
  for (const text of [given].flat()) {
    const [id, version] = String(text ?? '')
      .split(':')
      .map(parseId)
    if (id !== undefined && version !== undefined && picks.size < maxPicks) picks.set(id, { id, version })
  }
  return [...picks.values()]
}

function impossiblePrices(products: readonly Product[], hundredths: number): string | undefined {
  const impossible = products
    .map(({ name, price_cents }) => ({ name, cents: priceAfter(price_cents, hundredths) }))
    .filter(({ cents }) => !isPrice(cents))
  if (impossible.length === 0) return undefined
  const named = impossible.slice(0, maxNamed).map(({ name, cents }) => `“${name}” would cost ${formatPrice(cents)}`)
  const more = impossible.length > maxNamed ? `, and ${impossible.length - maxNamed} more` : ''
  return `Prices must be from $0.01 to $99,999,999.99: ${named.join(', ')}${more}`
}
