/** HTML by template: whatever is put into one is escaped, unless it came out of one. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Html | false | undefined | readonly Value[]

export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(parts.map((part, i) => part + (i < values.length ? print(values[i]) : '')).join(''))
}

function print(value: Value): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  return typeof value === 'object' ? value.map(print).join('') : escapeHtml(String(value))
}

/** A table: to put the names together one by one takes ten times as long, which a megabyte of `<` makes a second. */
const escapes: Readonly<Record<string, string>> = {
  '&': '&#38;',
  '<': '&#60;',
  '>': '&#62;',
  '"': '&#34;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => escapes[char] ?? '')
}

/** A sentence, with what stands between backticks as code. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`
}

/** Indented JSON, its keys and values marked for the stylesheet. */
export function json(value: unknown): Html {
  const text = JSON.stringify(value)
  return text === undefined ? html`` : printJson(JSON.parse(text), '\n')
}

/** `line` begins a line at this depth. */
function printJson(value: unknown, line: string): Html {
  if (typeof value !== 'object' || value === null) {
    return html`<span class="${typeof value === 'string' ? 'text' : 'value'}">${JSON.stringify(value)}</span>`
  }
  const deeper = `${line}  `
  const isList = Array.isArray(value)
  const items = Object.entries(value).map(([name, each], i) => {
    const key = !isList && html`<span class="key">${JSON.stringify(name)}:</span> `
    return html`${i > 0 && ','}${deeper}${key}${printJson(each, deeper)}`
  })
  const [open, close] = isList ? '[]' : '{}'
  return html`${open}${items}${items.length > 0 && line}${close}`
}
