/** The table of docs/errors.md is complete. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { AppError } from '../../src/core/app-error.ts'
import { resolveResponse } from '../../src/platform/openapi/document.ts'
import { examplesOf, startDescribedApi } from '../support/openapi-document.ts'

/** Nobody reads them: the client is gone, or it is a browser with a page. */
const unlisted = ['client_closed', 'form_expired']

const src = join(root, 'src')
const declared = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .flatMap((path) => {
    const declarations = readFileSync(join(src, path), 'utf8').matchAll(
      /new AppError\(\s*(\d{3}),\s*'([^']+)'(?:,\s*\{\s*code: '([^']+)')?/g,
    )
    return [...declarations].map(([, status, text = '', code]) => ({
      status: Number(status),
      text,
      code: code ?? new AppError(Number(status), text).code,
    }))
  })

test('the page names every error code with its status', () => {
  const page = readFileSync(join(root, 'docs', 'errors.md'), 'utf8')
  const rows = [...page.matchAll(/^\| ([\d, ]+) \| (.*) \|$/gm)]
  const missing = declared.filter(
    ({ status, code }) =>
      !unlisted.includes(code) &&
      !rows.some(([, statuses, codes]) => statuses?.includes(String(status)) && codes?.includes(`\`${code}\``)),
  )
  assert.ok(declared.length > 20 && rows.length > 10)
  assert.deepEqual([...new Set(missing.map(({ status, code }) => `${status} ${code}`))].sort(), [])
})

test('every error of the API description is one of them', async (t) => {
  const { document, operations } = await startDescribedApi(t)
  const described = operations.flatMap(({ name, operation }) =>
    Object.entries(operation.responses)
      .filter(([status]) => Number(status) >= 400)
      .flatMap(([status, response]) =>
        Object.values(resolveResponse(document, response).content ?? {})
          .flatMap(examplesOf)
          .map((example) => ({ name, status: Number(status), text: (example as { error?: string }).error })),
      ),
  )
  const strange = described.filter(
    ({ status, text }) =>
      text !== undefined && !declared.some((error) => error.status === status && error.text === text),
  )
  assert.ok(described.length > 20)
  assert.deepEqual(strange, [])
})
