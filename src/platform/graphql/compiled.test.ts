/** The compiled execution answers what the interpreted one does, over random documents. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createMemoryBus } from '../bus/memory.ts'
import { createLogger } from '../log/logger.ts'
import { createEngine } from './create-engine.ts'
import { type Context, objectType, query } from './elements.ts'

const log = createLogger({ level: 'silent', isTerminal: false })
const context: Context = { principal: undefined, client: { address: '', userAgent: '' }, log }
const limits = { bytes: 65_536, tokens: 5000, depth: 15, aliases: 200, cost: 100_000 }

function createTestEngine() {
  return createEngine({
    elements: [
      objectType<{ n: number }>({
        name: 'Node',
        fields: {
          n: 'Int!',
          text: { type: 'String', resolve: ({ n }) => (n % 2 === 0 ? null : `text ${n}`) },
          next: { type: 'Node', resolve: ({ n }) => ({ n: n + 1 }) },
          many: { type: '[Node!]', resolve: ({ n }) => [{ n: n * 10 }, { n: n * 10 + 1 }] },
        },
      }),
      query<{ n: number }>({
        name: 'node',
        type: 'Node',
        args: { n: { type: 'Int', default: 1 } },
        access: 'public',
        resolve: ({ n }) => ({ n }),
      }),
    ],
    policies: { requireKnown() {}, allow: async () => true },
    bus: createMemoryBus({ log }),
    log,
    limits,
    allowsIntrospection: true,
  })
}

const condition = fc.constantFrom(
  '',
  '',
  '',
  ' @skip(if: $a)',
  ' @include(if: $a)',
  ' @skip(if: $b)',
  ' @include(if: true)',
)
const { selection } = fc.letrec<{ selection: string; field: string }>((tie) => ({
  selection: fc
    .array(tie('field'), { minLength: 1, maxLength: 4, size: 'max' })
    .map((fields) => `{ __typename ${fields.join(' ')} }`),
  field: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.tuple(fc.constantFrom('n', 'text', 'x: n', 'y: text'), condition).map(([name, when]) => name + when),
    fc.tuple(fc.constantFrom('next', 'many'), condition, tie('selection')).map((parts) => parts.join('')),
    fc.tuple(fc.constantFrom('...', '... on Node'), condition, tie('selection')).map((parts) => parts.join('')),
    fc.tuple(fc.constant('...F'), condition).map((parts) => parts.join('')),
  ),
}))

test('random documents have the same answer the first time and from the third time on', async () => {
  await fc.assert(
    fc.asyncProperty(selection, fc.boolean(), fc.boolean(), async (fields, a, b) => {
      const engine = createTestEngine()
      const document = `query ($a: Boolean!, $b: Boolean!) { node(n: 3) ${fields} t: node @skip(if: $a) { n ...F } u: node @include(if: $b) { n } }
        fragment F on Node { n text next { n } }`
      let prepared: ReturnType<typeof engine.prepare>
      try {
        prepared = engine.prepare({ query: document, variables: { a, b } })
      } catch {
        // Fields of one name that cannot be merged.
        return
      }
      const answers: string[] = []
      for (let i = 0; i < 4; i++) answers.push((await engine.execute(prepared, context)).text)
      for (const answer of answers) assert.deepEqual(JSON.parse(answer), JSON.parse(answers[0] as string), document)
    }),
    { numRuns: 500 },
  )
})

test('names that every object has by itself are names like others', async () => {
  const engine = createTestEngine()
  for (const [document, expected] of [
    ['query ($toString: Int = 7) { node(n: $toString) { n } }', { node: { n: 7 } }],
    [
      'query ($constructor: Int = 7) { valueOf: node(n: $constructor) { hasOwnProperty: n } }',
      { valueOf: { hasOwnProperty: 7 } },
    ],
  ] as [string, object][]) {
    for (let i = 0; i < 5; i++) {
      const { text } = await engine.execute(engine.prepare({ query: document }), context)
      assert.deepEqual(JSON.parse(text), { data: expected })
    }
  }
})
