/** What axe-core finds on a page that keeps somebody from using it. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Each as one line. The page's policy is left as it is: this runs beside it. */
export async function findBarriers(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(source)
  const { violations } = (await page.evaluate('axe.run({ resultTypes: ["violations"] })')) as AxeResults
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${help}: ${html} ${any.map(({ message }) => message).join(' ')}`),
  )
}
