/** Values from the environment, which win over those of the files. */
import { readFileSync } from 'node:fs'
import type { Key } from './key.ts'
import { type Environment, type MlcValue, typed } from './mlc-values.ts'

export interface Found {
  input: MlcValue
  /** For messages: `config/server.mlc:3:5` or `PORT`. */
  origin: string
}

/** An empty variable counts as unset: a compose file produces one for a line without a value. */
export function readVariables(
  environment: Environment,
  keys: Iterable<Key<unknown>>,
  found: Map<string, Found>,
  problems: string[],
): void {
  for (const { path, variable, isSecret } of keys) {
    if (variable === undefined) continue
    const fileVariable = `${variable}_FILE`
    const file = isSecret ? environment[fileVariable] : undefined
    const given = environment[variable]
    if (given && file) problems.push(`${variable} and ${fileVariable} are both set: use one of them`)
    else if (given) found.set(path, { input: toValue(given), origin: variable })
    else if (file) {
      const text = readSecret(file, fileVariable, problems)
      if (text !== undefined) found.set(path, { input: toValue(text), origin: fileVariable })
    }
  }
}

function toValue(text: string): MlcValue {
  return { kind: 'value', value: typed(text), text, line: 1, column: 1 }
}

/** Without the line break that editors and `echo` add at the end. Never empty: a lost secret must not go unnoticed. */
function readSecret(file: string, variable: string, problems: string[]): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim()
    if (text !== '') return text
    problems.push(`${variable}: ${file} is empty`)
  } catch (error) {
    problems.push(`${variable}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  return undefined
}
