import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type MlcSection, parseMlc } from './mlc.ts'

type Plain = string | number | boolean | null | Plain[] | { [key: string]: Plain }

function read(source: string, environment: Record<string, string> = {}): Plain {
  const { root, problems } = parseMlc(source, environment)
  assert.deepEqual(problems, [])
  return plain(root)
}

function plain(section: MlcSection): { [key: string]: Plain } {
  const toPlain = (value: unknown): Plain =>
    Array.isArray(value) ? value.map((item: { value: unknown }) => toPlain(item.value)) : (value as Plain)
  return Object.fromEntries(
    [...section.entries].map(([key, node]) => [key, node.kind === 'section' ? plain(node) : toPlain(node.value)]),
  )
}

function problemsOf(source: string, environment: Record<string, string> = {}): string[] {
  return parseMlc(source, environment).problems.map(({ line, column, message }) => `${line}:${column} ${message}`)
}

test('values have their types', () => {
  const source = `
    # a comment
    yes = true   # another
    no = false
    none = null
    whole = 42
    negative = -7
    float = 2.50
    quoted = "text with # and \\"quotes\\" \\n \\u00fc"
    bare = https://example.com:80/a?b-c
    address = 0.0.0.0
  `
  assert.deepEqual(read(source), {
    yes: true,
    no: false,
    none: null,
    whole: 42,
    negative: -7,
    float: 2.5,
    quoted: 'text with # and "quotes" \n ü',
    bare: 'https://example.com:80/a?b-c',
    address: '0.0.0.0',
  })
})

test('sections nest, on one line or several', () => {
  assert.deepEqual(read('a { b { c = 1 } d = x\n}\ne{f=2 g=3}'), { a: { b: { c: 1 }, d: 'x' }, e: { f: 2, g: 3 } })
})

test('lists go over lines and may end with a comma', () => {
  const source = 'a = [ "x", y, 3, true ]\nb = [\n  "x", # why\n  "y",\n]\nc = []\nd = [[1],[2]]'
  assert.deepEqual(read(source), { a: ['x', 'y', 3, true], b: ['x', 'y'], c: [], d: [[1], [2]] })
})

test('the environment is read, and a whole value is typed again', () => {
  const environment = { PORT: '8080', HOST: 'here', EMPTY: '', FLAG: 'true' }
  const source = `
    a = env(PORT, 3000)
    b = env(MISSING, 3000)
    c = env(MISSING)
    d = \${PORT}
    e = \${MISSING:-5}
    f = "http://\${HOST}:\${PORT}/\${MISSING:-x}"
    g = "\\\${HOST}"
    h = env(EMPTY, fallback)
    i = env("FLAG")
    j = [env(PORT), \${HOST}]
    k = "\${PORT}"
  `
  assert.deepEqual(read(source, environment), {
    a: 8080,
    b: 3000,
    c: null,
    d: 8080,
    e: 5,
    f: 'http://here:8080/x',
    g: '${HOST}',
    h: 'fallback',
    i: true,
    j: [8080, 'here'],
    k: 8080,
  })
})

test('what an expansion read keeps its text beside its type', () => {
  const { root } = parseMlc('secret = env(SECRET)', { SECRET: '00123' })
  const node = root.entries.get('secret')
  assert.ok(node?.kind === 'value')
  assert.deepEqual([node.value, node.text], [123, '00123'])
})

const mistakes: [string, string][] = [
  ['a = 1\na = 2', '2:1 repeated key "a" (first in line 1)'],
  ['a { b = 1 }\na { c = 1 }', '2:1 repeated key "a" (first in line 1)'],
  ['a', '1:2 expected "=" or "{" after "a", found the end of the file'],
  ['a =\nb = 1', '1:4 expected a value, found the end of the line'],
  ['a = "x\nb = 1', '1:5 text is never closed: " is missing'],
  ['a = "\\q"', '1:7 unknown escape "\\q"'],
  ['a = two words', '1:9 unexpected "w" after the value of "a"; text with spaces needs "quotes"'],
  ['a = [1 2]', '1:8 expected "," or "]" in the list, found "2"'],
  ['a = [1,\n2', '1:5 list is never closed: "]" is missing'],
  ['a {\n b = 1\n', '1:1 section is never closed: "}" is missing'],
  ['a { b = "\\q" }', '1:11 unknown escape "\\q"'],
  ['a { b = [ 1 2 ] }\nc = 1', '1:13 expected "," or "]" in the list, found "2"'],
  ['}', '1:1 "}" closes nothing'],
  ['= 1', '1:1 expected a key, found "="'],
  ['a.b = 1', '1:2 expected "=" or "{" after "a", found "."'],
  ['a = "x${MISSING}"', '1:5 environment variable MISSING is not set'],
  ['a = "x${}"', '1:5 malformed expansion: expected ${NAME} or ${NAME:-default}'],
  ['a = "${HOME}-${}"', '1:5 malformed expansion: expected ${NAME} or ${NAME:-default}'],
  ['a { b = }\nc = 1', '1:9 expected a value, found "}"'],
  ['a = env(', '1:9 expected the name of an environment variable, found the end of the file'],
  ['a = env(X, 1', '1:13 expected ")", found the end of the file'],
]
for (const [source, expected] of mistakes) {
  test(`${JSON.stringify(source)} is refused with its place`, () => {
    assert.deepEqual(problemsOf(source, { HOME: 'x' }), [expected])
  })
}

test('all mistakes are found in one reading', () => {
  assert.equal(problemsOf('a = \nb = "x\nc = [1 2]\nd = 1\nd = 2').length, 4)
})

test('nesting ends at fifty', () => {
  const nested = (depth: number) => `${'a { '.repeat(depth)}b = 1${' }'.repeat(depth)}`
  assert.deepEqual(problemsOf(nested(50)), [])
  assert.match(problemsOf(nested(51))[0] ?? '', /nested more than 50 deep/)
  assert.match(problemsOf(`a = ${'['.repeat(60)}`)[0] ?? '', /nested more than 50 deep/)
  assert.equal(problemsOf(nested(5000)).length, 1)
})

test('any text is either read or refused with a place, never thrown at', () => {
  const token = fc.constantFrom(
    'a',
    ' ',
    '\n',
    '=',
    '{',
    '}',
    '[',
    ']',
    ',',
    '"',
    '#',
    '${',
    'env(',
    ')',
    '\\',
    '1',
    'é',
    '__proto__',
  )
  fc.assert(
    fc.property(fc.array(token, { maxLength: 40 }), (tokens) => {
      const source = tokens.join('')
      const lines = source.split('\n').length
      for (const { line, column } of parseMlc(source, {}).problems) {
        assert.ok(line >= 1 && line <= lines && column >= 1)
      }
    }),
    { numRuns: 2000 },
  )
})

test('quoted text survives whatever it holds', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const quoted = JSON.stringify(text)
        .replaceAll('$', '\\$')
        .replaceAll('\\b', '\\u0008')
        .replaceAll('\\f', '\\u000c')
      assert.deepEqual(read(`a = ${quoted}`), { a: text })
    }),
  )
})
