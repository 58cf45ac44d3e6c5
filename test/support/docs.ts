import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../src/config/root.ts'

/** The code blocks of a page in this language. */
export function blocksOf(page: string, language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, code]) => code as string,
  )
}

/** Whether the file has a test of this title. What differs from run to run is written as `…`. */
export function isTest({ file, title }: { file: string; title: string }): boolean {
  const path = join(root, file)
  if (!existsSync(path)) return false
  const source = readFileSync(path, 'utf8').replaceAll(/\$\{[^}\n]{0,100}\}/g, '…')
  return ["'", '"', '`'].some((quote) => source.includes(`test(${quote}${title}${quote}, `))
}

/** The cells of the rows of all tables. */
export function rowsOf(page: string): string[][] {
  const rows = page.split('\n').filter((line) => line.startsWith('| '))
  return rows.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
