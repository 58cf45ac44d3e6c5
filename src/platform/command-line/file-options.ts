/** Options of commands that read and write files of rows. */
import { InvalidArgumentError, Option } from 'commander'

export function formatOption(description: string): Option {
  return new Option('--format <format>', description).choices(['csv', 'ndjson'])
}

export function parseCount(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

export function parseDelimiter(text: string): string {
  const delimiter = text === '\\t' ? '\t' : text
  if (!/^[\t -~]$/.test(delimiter) || delimiter === '"') {
    throw new InvalidArgumentError('It must be one ASCII character, and not a quote.')
  }
  return delimiter
}
