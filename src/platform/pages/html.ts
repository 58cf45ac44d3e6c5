/** HTML templates: values are escaped, unless they are the result of a template. */
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

/** A table, because composing each entity takes ten times as long: a second for a megabyte of `<`. */
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

/** Renders text between backticks as code. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`
}

/** Indented JSON with syntax highlighting. */
export function json(value: unknown): Html {
  const text = JSON.stringify(value)
  return text === undefined ? html`` : printJson(JSON.parse(text), '\n')
}

/** `line` is a line break with the indentation of this depth. */
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
