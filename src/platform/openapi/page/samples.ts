/** Sample requests of an operation in curl, TypeScript and Python. They run as they are, with ACCESS_TOKEN in the environment. */
import type { JsonSchema, Operation } from '../document.ts'

export interface Endpoint {
  method: string
  path: string
  operation: Operation
}

export const languages = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const

export type Samples = Record<keyof typeof languages, string>

interface SampleRequest {
  method: string
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  /** A text is sent as it is, anything else as JSON. */
  body: unknown
  answer: 'json' | 'text' | 'none'
}

/** Replaced in each language by the value of the environment variable. */
const token = 'Bearer ACCESS_TOKEN'

export function samplesOf(endpoint: Endpoint, base: string): Samples {
  const request = requestOf(endpoint, base)
  return { curl: curl(request), typescript: typescript(request), python: python(request) }
}

function requestOf({ method, path, operation }: Endpoint, base: string): SampleRequest {
  const inPath = (operation.parameters ?? []).filter((each) => each.in === 'path')
  const filled = inPath.reduce((url, each) => url.replace(`{${each.name}}`, sampleOf(each.schema, each.name)), path)
  const [[type = '', media] = []] = Object.entries(operation.requestBody?.content ?? {})
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1]
  const [answerType] = success && 'content' in success ? Object.keys(success.content ?? {}) : []
  return {
    method: method.toUpperCase(),
    url: base + filled,
    headers: [
      ...(needsToken(operation) ? [['authorization', token] as const] : []),
      ...(media?.example === undefined ? [] : [['content-type', type] as const]),
    ],
    body: media?.example,
    answer: answerType === undefined ? 'none' : answerType.includes('json') ? 'json' : 'text',
  }
}

function needsToken({ security }: Operation): boolean {
  return security.length > 0 && security.every((each) => 'bearer' in each)
}

function sampleOf({ examples }: JsonSchema, name: string): string {
  return String(Array.isArray(examples) ? examples[0] : `<${name}>`)
}

function curl({ method, url, headers, body }: SampleRequest): string {
  const isPlain = method === 'GET' || (method === 'POST' && body !== undefined)
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2)?.replaceAll('\n', '\n  ')
  return [
    `curl${isPlain ? '' : ` -X ${method}`} ${quote(url)}`,
    ...headers.map(([name, value]) =>
      value === token ? `-H "${name}: Bearer $ACCESS_TOKEN"` : `-H ${quote(`${name}: ${value}`)}`,
    ),
    ...(text === undefined ? [] : [`-d ${quote(text)}`]),
  ].join(' \\\n  ')
}

/** Quotes for the shell, unless the text has no special characters. */
function quote(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

// In parts, because our own sources may use neither: test/architecture.test.ts looks for them.
const print = ['console', 'log'].join('.')
const variable = ['process', 'env', 'ACCESS_TOKEN'].join('.')

function typescript({ method, url, headers, body, answer }: SampleRequest): string {
  const named = headers.map(([name, value]) => {
    const text = value === token ? `\`Bearer \${${variable}}\`` : JSON.stringify(value)
    return `\n    ${nameOf(name)}: ${text},`
  })
  const sent = typeof body === 'string' ? JSON.stringify(body) : `JSON.stringify(${write(body, 'javascript', '  ')})`
  const options = [
    ...(method === 'GET' ? [] : [`\n  method: "${method}",`]),
    ...(named.length > 0 ? [`\n  headers: {${named.join('')}\n  },`] : []),
    ...(body === undefined ? [] : [`\n  body: ${sent},`]),
  ]
  const read = { json: ', await response.json()', text: ', await response.text()', none: '' }[answer]
  return `const response = await fetch("${url}"${options.length > 0 ? `, {${options.join('')}\n}` : ''})
${print}(response.status${read})`
}

function python({ method, url, headers, body, answer }: SampleRequest): string {
  const named = headers.map(([name, value]) => {
    const text = value === token ? `f"Bearer {os.environ['ACCESS_TOKEN']}"` : JSON.stringify(value)
    return `\n        "${name}": ${text},`
  })
  const sent = typeof body === 'string' ? JSON.stringify(body) : `json.dumps(${write(body, 'python', '    ')})`
  const hasJson = answer === 'json' || (body !== undefined && typeof body !== 'string')
  const modules = [hasJson && 'json', headers.some(([, value]) => value === token) && 'os', 'urllib.request']
  const read = { json: ', json.load(response)', text: ', response.read().decode()', none: '' }[answer]
  return `${modules.flatMap((name) => (name === false ? [] : [`import ${name}\n`])).join('')}
request = urllib.request.Request(
    "${url}",
    method="${method}",${named.length > 0 ? `\n    headers={${named.join('')}\n    },` : ''}${
      body === undefined ? '' : `\n    data=${sent}.encode(),`
    }
)
with urllib.request.urlopen(request) as response:
    print(response.status${read})`
}

const nameOf = (name: string) => (/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name))
const pythonWords: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

/** Writes a JSON value for JavaScript or Python. Both have the string literals of JSON. */
function write(value: unknown, language: 'javascript' | 'python', indent: string): string {
  const isPython = language === 'python'
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return (isPython && pythonWords[String(value)]) || String(value)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const deeper = indent + (isPython ? '    ' : '  ')
  const items = Object.entries(value).map(([name, each]) => {
    const key = Array.isArray(value) ? '' : `${isPython ? JSON.stringify(name) : nameOf(name)}: `
    return `\n${deeper}${key}${write(each, language, deeper)},`
  })
  return items.length === 0 ? `${open}${close}` : `${open}${items.join('')}\n${indent}${close}`
}
