/**
 * A key is `lk_`, 34 random characters and a checksum of six: the CRC-32 of zlib over everything before it, in base62
 * with leading zeros. It lets secret scanners recognise keys, and refuses typos without a query.
 */
import { crc32 } from 'node:zlib'
import type { Random } from '../../core/random.ts'

export const keyPrefix = 'lk_'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = alphabet.length
const randomLength = 34
const checksumLength = 6
const pattern = /^lk_[0-9A-Za-z]{40}$/
/** Bytes from here on are discarded: they would make the first characters of the alphabet more likely. */
const unbiased = 256 - (256 % base)

export function createKey(random: Random): string {
  const body = keyPrefix + drawCharacters(random, randomLength)
  return body + checksumOf(body)
}

/** Checks the form and the checksum. */
export function isWellFormed(key: string): boolean {
  return pattern.test(key) && checksumOf(key.slice(0, -checksumLength)) === key.slice(-checksumLength)
}

/** The first seven and the last four characters. */
export function hintOf(key: string): string {
  return `${key.slice(0, 7)}…${key.slice(-4)}`
}

function drawCharacters(random: Random, length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of random.bytes(length)) {
      if (byte < unbiased && text.length < length) text += alphabet[byte % base]
    }
  }
  return text
}

function checksumOf(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet[rest % base] + digits
    rest = Math.floor(rest / base)
  }
  return digits
}
