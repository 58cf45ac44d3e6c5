/** Form fields with labels and their error messages. */
import { AppError } from '../../../core/app-error.ts'
import { type Html, html } from '../html.ts'

/** The problems of a submitted form, in general and by field. */
export interface Problems {
  message?: string
  /** The code of the error that the message comes from. */
  code?: string
  fields: Readonly<Record<string, readonly string[]>>
}

export const noProblems: Problems = { fields: {} }

/** The submitted values, by field. */
export type Values = Readonly<Record<string, unknown>>

/** The problems of a 4xx, to be shown with the form. Rethrows any other error, which gets an error page. */
export function problemsOf(error: unknown): { problems: Problems; status: number } {
  if (!(error instanceof AppError) || error.status >= 500) throw error
  const details = error.extra?.details as Record<string, string[]> | undefined
  if (details) return { problems: { fields: details }, status: error.status }
  return { problems: { message: error.message, code: error.code, fields: {} }, status: error.status }
}

export interface FieldOptions {
  label: string
  name: string
  type?: 'text' | 'email' | 'password' | 'number' | 'search' | 'textarea'
  value?: unknown
  problems?: Problems
  hint?: string
  required?: boolean
  autocomplete?: string
  inputmode?: 'numeric' | 'decimal'
  min?: string
  max?: string
  step?: string
  maxlength?: number
  autofocus?: boolean
  /** The id of a <datalist> with suggestions. */
  list?: string
  /** More attributes, for scripts. */
  attributes?: Html
}

export function field(options: FieldOptions): Html {
  const { label, name, type = 'text', value, problems = noProblems, hint, required } = options
  const errors = problems.fields[name] ?? []
  const id = `field-${name}`
  // Focus the first field with an error. Of several elements with autofocus, browsers focus the first.
  const isFirst = Object.keys(problems.fields).length > 0 ? errors.length > 0 : options.autofocus
  const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...(errors.length > 0 ? [`${id}-error`] : [])]
  const attributes = html` id="${id}" name="${name}"${required && html` required`}${isFirst && html` autofocus`}${
    errors.length > 0 && html` aria-invalid="true"`
  }${described.length > 0 && html` aria-describedby="${described.join(' ')}"`}${(
    ['autocomplete', 'inputmode', 'min', 'max', 'step', 'maxlength', 'list'] as const
  ).map((each) => options[each] !== undefined && html` ${each}="${options[each]}"`)}${options.attributes}`
  // A password is never sent back.
  const text = type === 'password' || value === undefined || value === null ? '' : String(value)
  const control =
    type === 'textarea'
      ? html`<textarea rows="4"${attributes}>${text.startsWith('\n') && '\n'}${text}</textarea>`
      : html`<input type="${type}" value="${text}"${attributes}>`
  return html`<div class="field">
<label for="${id}">${label}${!required && type !== 'search' && html` <span class="optional">optional</span>`}</label>
${control}
${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
${errors.length > 0 && html`<p class="error" id="${id}-error">${errors.join('. ')}.</p>`}
</div>`
}

/** The note above a form. Errors of fields are shown at the fields. */
export function problemNote({ message, fields }: Problems): Html | false {
  const isAny = message !== undefined || Object.keys(fields).length > 0
  return isAny && html`<p class="problem" role="alert">${message ?? 'Some fields need another look.'}</p>`
}
