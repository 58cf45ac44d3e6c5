/** Forms: fields with their labels, and errors tied to them. */
import { AppError } from '../../../core/app-error.ts'
import { type Html, html } from '../html.ts'

/** What is wrong with what was sent: in general, and field by field. */
export interface Problems {
  message?: string
  /** Of the error that the message is from. */
  code?: string
  fields: Readonly<Record<string, readonly string[]>>
}

export const noProblems: Problems = { fields: {} }

/** What was typed, by field. */
export type Values = Readonly<Record<string, unknown>>

/** What a service refuses is shown with the form, and the form keeps what was typed. All else is an error page. */
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
}

export function field(options: FieldOptions): Html {
  const { label, name, type = 'text', value, problems = noProblems, hint, required } = options
  const errors = problems.fields[name] ?? []
  const id = `field-${name}`
  // Whoever has to mend something begins there, at the first if there are several: a browser takes the first it meets.
  const isFirst = Object.keys(problems.fields).length > 0 ? errors.length > 0 : options.autofocus
  const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...(errors.length > 0 ? [`${id}-error`] : [])]
  const attributes = html` id="${id}" name="${name}"${required && html` required`}${isFirst && html` autofocus`}${
    errors.length > 0 && html` aria-invalid="true"`
  }${described.length > 0 && html` aria-describedby="${described.join(' ')}"`}${(
    ['autocomplete', 'inputmode', 'min', 'max', 'step', 'maxlength', 'list'] as const
  ).map((each) => options[each] !== undefined && html` ${each}="${options[each]}"`)}`
  // A password is never sent back.
  const text = type === 'password' || value === undefined || value === null ? '' : String(value)
  const control =
    type === 'textarea'
      ? html`<textarea rows="4"${attributes}>${text}</textarea>`
      : html`<input type="${type}" value="${text}"${attributes}>`
  return html`<div class="field">
<label for="${id}">${label}${!required && type !== 'search' && html` <span class="optional">optional</span>`}</label>
${control}
${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
${errors.length > 0 && html`<p class="error" id="${id}-error">${errors.join('. ')}.</p>`}
</div>`
}

/** Above a form: what is wrong with all of it. Fields tell their own. */
export function problemNote({ message, fields }: Problems): Html | false {
  const isAny = message !== undefined || Object.keys(fields).length > 0
  return isAny && html`<p class="problem" role="alert">${message ?? 'Some fields need another look.'}</p>`
}
