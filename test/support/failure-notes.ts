/** Below a test that fails: its requests with their responses, and what the services logged meanwhile. */
import { afterEach, beforeEach, getTestContext, type TestContext } from 'node:test'
import type { Exchange } from '../../src/testing/client.ts'

const maxExchanges = 20
const maxLines = 50
const maxCharacters = 2000

interface Service {
  log: readonly string[]
}

const services = new Set<WeakRef<Service>>()
/** By the full name of the test. */
const exchanges = new Map<string, Exchange[]>()
const logged = new Map<string, Map<WeakRef<Service>, number>>()

export function noteService(service: Service): void {
  for (const each of services) if (!each.deref()) services.delete(each)
  services.add(new WeakRef(service))
}

export function noteExchange(exchange: Exchange): void {
  const name = getTestContext()?.fullName
  if (name === undefined) return
  const known = exchanges.get(name) ?? []
  exchanges.set(name, [...known.slice(1 - maxExchanges), exchange])
}

beforeEach((t) => {
  const { fullName } = t as TestContext
  logged.set(fullName, new Map([...services].map((service) => [service, service.deref()?.log.length ?? 0])))
})

afterEach((t) => {
  const test = t as TestContext
  const { fullName } = test
  if (test.passed === false) test.diagnostic(describe(fullName))
  exchanges.delete(fullName)
  logged.delete(fullName)
})

function describe(name: string): string {
  const lines = [...services].flatMap((service) => {
    const { log = [] } = service.deref() ?? {}
    return log.slice(logged.get(name)?.get(service) ?? 0).map((line) => line.trimEnd())
  })
  return [
    `of the failed test "${name}":`,
    ...(exchanges.get(name) ?? []).flatMap(describeExchange),
    ...lines.slice(-maxLines),
  ].join('\n')
}

function describeExchange({ request, response }: Exchange): string[] {
  const { json, form, body, headers, token } = request.options
  const sent = json ?? form ?? body
  return [
    `> ${request.method} ${request.path}${token === undefined ? '' : ' (with a token)'}${headers ? ` ${JSON.stringify(headers)}` : ''}`,
    ...(sent === undefined ? [] : [`> ${cut(sent)}`]),
    `< ${response.status} ${cut(response.body)}`,
  ]
}

function cut(value: unknown): string {
  const text =
    typeof value === 'string' ? value : value instanceof Uint8Array ? `${value.length} bytes` : JSON.stringify(value)
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)} … (${text.length} characters)` : text
}
