import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passwordHint } from './password-hint.ts'

test('what a password needs is told in a sentence', () => {
  const all = ['Must be at least 8 characters', 'Must contain an upper-case letter', 'Must contain a number']
  assert.equal(
    passwordHint(() => all),
    'At least 8 characters, an upper-case letter, and a number.',
  )
  assert.equal(
    passwordHint(() => ['Must contain a symbol']),
    'A symbol.',
  )
})

test('a policy that asks for nothing still says something', () => {
  assert.equal(
    passwordHint(() => []),
    'Choose a long one.',
  )
})
