/** Accessibility problems that axe-core finds on a page. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** One line per problem, for all rules or the given ones. Works without changing the page's CSP. */
export async function findBarriers(page: Page, runOnly?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(source)
  const options = JSON.stringify({ resultTypes: ['violations'], preload: false, ...(runOnly && { runOnly }) })
  const { violations } = (await page.evaluate(
    `axe.run(${options}).then(({ violations }) => ({ violations }))`,
  )) as Pick<AxeResults, 'violations'>
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${help}: ${html} ${any.map(({ message }) => message).join(' ')}`),
  )
}
