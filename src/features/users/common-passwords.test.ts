import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPersonal, loadCommonPasswords } from './common-passwords.ts'

test('common passwords are known in any case and with an ending that a policy asks for', async () => {
  const isCommon = await loadCommonPasswords()
  for (const password of ['password', 'Password1', 'PASSWORD123!', 'Dragon2024', 'letmein', 'Qwerty123']) {
    assert.equal(isCommon(password), true, password)
  }
  for (const password of ['Correct-Horse-1', 'tulip orbit 7 candle', 'A8301927465']) {
    assert.equal(isCommon(password), false, password)
  }
})

test('a password that holds the email or the name is personal', () => {
  const ada = { email: 'countess@example.com', name: 'Ada Lovelace' }
  for (const password of ['Countess-1815', 'xxLOVELACExx1']) assert.equal(isPersonal(password, ada), true, password)
  for (const password of ['Adamant-7-Stone', 'Example-Com-1']) assert.equal(isPersonal(password, ada), false, password)
  assert.equal(isPersonal('Correct-Horse-1', {}), false)
})
