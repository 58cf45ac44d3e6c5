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
  const text = JSON.stringify(value, null, 2) ?? ''
  const tokens = text.split(/("(?:\\.|[^"\\])*"(?:\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)/i)
  return html`${tokens.map((token, i) => (i % 2 === 1 ? html`<span class="${kindOf(token)}">${token}</span>` : token))}`
}

function kindOf(token: string): string {
  if (token.startsWith('"')) return token.endsWith(':') ? 'key' : 'text'
  return 'value'
}
