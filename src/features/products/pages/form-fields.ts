/** The fields of the product form. The detail page and the table of an edit conflict show the same ones. */
import type { FieldOptions } from '../../../platform/pages/components/forms.ts'
import { plainPrice } from '../price-text.ts'
import { formatPrice, type Product } from '../product.ts'
import { type EditedProduct, NewProduct } from '../products.schema.ts'
import { plainNumber } from './plain-number.ts'
import type { Form } from './product-forms.ts'

export interface FormField {
  label: string
  /** The value in the form. */
  toValue(product: Product): string
  /** The text on the detail page, if it differs from the value in the form. */
  toText?(product: Product): string
  /** Compared as a number. Returns it as the API takes it, of what the console displays and people type. */
  toNumber?(text: string): string
  /** A text area, whose line breaks browsers submit as CRLF. */
  isMultiline?: boolean
  /** Shares a line of the form with its neighbour that has this too. */
  isHalf?: boolean
  /** A checkbox, with its hint. Otherwise a text field. */
  checkbox?: { hint: string }
  input?(form: { isNew: boolean }): Partial<FieldOptions>
}

/**
 * In the order of the form. A form submits all of its fields, so a field that is missing here would be cleared by saving.
 * Numbers are text inputs, because a number input does not redisplay invalid values.
 */
const fields: Readonly<Record<keyof typeof EditedProduct.properties, FormField>> = {
  name: {
    label: 'Name',
    toValue: ({ name }) => name,
    input: ({ isNew }) => ({ required: true, maxlength: 255, autocomplete: 'off', autofocus: isNew }),
  },
  description: {
    label: 'Description',
    toValue: ({ description }) => description,
    isMultiline: true,
    input: ({ isNew }) => ({ required: isNew }),
  },
  price: {
    label: 'Price',
    toValue: ({ price_cents }) => (price_cents / 100).toFixed(2),
    toText: ({ price_cents }) => formatPrice(price_cents),
    toNumber: plainPrice,
    isHalf: true,
    input: () => ({
      label: 'Price in dollars',
      hint: 'Such as 1234.50 or 1234,50.',
      required: true,
      inputmode: 'decimal',
      autocomplete: 'off',
    }),
  },
  stock: {
    label: 'Stock',
    toValue: ({ stock }) => String(stock),
    toText: ({ stock }) => stock.toLocaleString('en'),
    toNumber: plainNumber,
    isHalf: true,
    input: ({ isNew }) => ({ required: !isNew, inputmode: 'numeric', autocomplete: 'off' }),
  },
  category: {
    label: 'Category',
    toValue: ({ category }) => category,
    input: () => ({
      maxlength: 100,
      autocomplete: 'off',
      list: 'categories',
      hint: 'Left empty, it is “general”.',
    }),
  },
  active: {
    label: 'Active',
    toValue: ({ active }) => String(active),
    checkbox: { hint: 'Only active products are found by a search or a category.' },
  },
}

export type NamedField = readonly [name: string, field: FormField]

export const formFields: readonly NamedField[] = Object.entries(fields)

/** A new product has only the fields of the body that creates it. */
export function fieldsOf({ isNew }: { isNew: boolean }): readonly NamedField[] {
  return isNew ? formFields.filter(([name]) => name in NewProduct.properties) : formFields
}

/** The values of the form. */
export function valuesOf(product: Product): Form {
  return Object.fromEntries(formFields.map(([name, { toValue }]) => [name, toValue(product)]))
}

/** A form of 128 kB holds so much of ordinary text. */
const maxEditable = 100_000

/** Without what is too long for a form: a field that is not submitted is left as it is. */
export function valuesToEdit(product: Product): Form {
  const values = Object.entries(valuesOf(product))
  return Object.fromEntries(values.filter(([, value]) => typeof value !== 'string' || value.length <= maxEditable))
}

/** Normalises line breaks, and numbers as they are displayed or typed. */
export function normaliseForm(body: Form): Form {
  const form: Record<string, unknown> = { ...body }
  for (const [name, { toNumber, isMultiline }] of formFields) {
    const value = form[name]
    if (typeof value !== 'string') continue
    if (toNumber) form[name] = toNumber(value)
    if (isMultiline) form[name] = value.replaceAll('\r\n', '\n')
  }
  return form
}
