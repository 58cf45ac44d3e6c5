/** Price and stock, changed in the list. */
import type { FastifyInstance } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { compressResponse } from '../../../platform/http/compression.ts'
import { idOf } from '../../../platform/http/ids.ts'
import { problemsOf } from '../../../platform/pages/components/forms.ts'
import { markAsForm } from '../../../platform/validation/body-validation.ts'
import { formatPrice, type Product } from '../product.ts'
import { normaliseForm, valuesOf } from './form-fields.ts'
import { backAddress } from './list-address.ts'
import { createListPage } from './list-page.ts'
import type { Form } from './product-forms.ts'
import { findProduct, one, type ProductPagesDeps } from './product-pages.ts'

export function addRowEditing(app: FastifyInstance, deps: ProductPagesDeps): void {
  const { forms, notices } = deps
  const sendList = createListPage(deps)
  const writing = { config: { access: forms.writeAccess, docs: false }, onSend: compressResponse } as const

  app.post<{ Body: Form }>(`${one}/quick`, writing, async (request, reply) => {
    const form = request.body ?? {}
    const query = Object.fromEntries(new URL(backAddress(form.back), 'http://list').searchParams)
    // Browsers log an answer with another status as an error of the script that asked.
    const statusFor = (status: number) => (form.in_place === 'true' ? 200 : status)
    const id = idOf(request)
    const product = await findProduct(forms, id)
    const sendGone = async () => {
      const gone = { deleted: await forms.findDeleted(id), typed: { price: form.price, stock: form.stock } }
      return sendList(request, reply, { query, gone, status: statusFor(404) })
    }
    if (!product) return sendGone()
    // A column that is not shown is not sent.
    const { price, stock } = valuesOf(product)
    const typed = normaliseForm({ price: form.price ?? price, stock: form.stock ?? stock })
    const tag = String(form.tag ?? '')
    try {
      await forms.updateRow(product.id, markAsForm({ ...typed }), { tag, userId: principalOf(request).id })
      return notices.redirect(reply, { address: backAddress(form.back), notice: 'product-saved' })
    } catch (error) {
      const { problems, status } = problemsOf(error)
      const now = await findProduct(forms, product.id)
      if (!now) return sendGone()
      const hasChanged = status === 412
      const row = {
        id: product.id,
        // The user sees what is saved now and may overwrite it.
        tag: hasChanged ? forms.tagOf(now) : tag,
        typed,
        problems: problems.fields,
        ...(hasChanged && { note: changedNote(now) }),
      }
      return sendList(request, reply, { query, edited: { product: now, row }, status: statusFor(status) })
    }
  })
}

function changedNote({ price_cents, stock }: Product): string {
  return `Somebody else changed it: the price is ${formatPrice(price_cents)} now, the stock ${stock.toLocaleString('en')}. Save again to overwrite that.`
}
