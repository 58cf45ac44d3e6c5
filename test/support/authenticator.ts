/** An authenticator in software: makes passkeys with real keys, and signs with them, rightly or not. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { Api } from './api.ts'
import { password, type SignedIn } from './people.ts'

export interface Passkey {
  id: string
  privateKey: KeyObject
  rpId: string
  userHandle: string
  counter: number
}

/** What an attacker, or a faulty authenticator, does otherwise. */
export interface Deviations {
  origin?: string
  rpId?: string
  type?: string
  challenge?: string
  crossOrigin?: boolean
  isVerified?: boolean
  isPresent?: boolean
  counter?: number
  userHandle?: string
  /** The id of another credential. */
  id?: string
  /** Signs with the key of another. */
  privateKey?: KeyObject
}

interface Creation extends Deviations {
  /** Of the attestation. */
  format?: string
  /** A CBOR map. */
  statement?: Buffer
  transports?: string[]
}

export const localOrigin = 'http://localhost:3000'
const flags = { present: 0x01, verified: 0x04, mayBackUp: 0x08, backedUp: 0x10, attested: 0x40 }

// biome-ignore lint/suspicious/noExplicitAny: options are what the service sent
export type Options = any

/** `navigator.credentials.create`. Returns the passkey and the JSON of the response. */
export function createPasskey(options: Options, given: Creation = {}) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = given.id === undefined ? randomBytes(16) : Buffer.from(given.id, 'base64url')
  const rpId = given.rpId ?? options.rp.id
  const counter = given.counter ?? 0
  const coseKey = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ])
  const length = Buffer.alloc(2)
  length.writeUInt16BE(id.length)
  const authData = Buffer.concat([
    authenticatorData({ ...given, rpId, counter }, flags.attested),
    Buffer.alloc(16),
    length,
    id,
    coseKey,
  ])
  const attestation = Buffer.concat([
    Buffer.from([0xa3]),
    cborText('fmt'),
    cborText(given.format ?? 'none'),
    cborText('attStmt'),
    given.statement ?? Buffer.from([0xa0]),
    cborText('authData'),
    Buffer.from([0x59, authData.length >> 8, authData.length & 0xff]),
    authData,
  ])
  const passkey: Passkey = {
    id: id.toString('base64url'),
    privateKey,
    rpId: options.rp.id,
    userHandle: options.user.id,
    counter,
  }
  const response = {
    id: passkey.id,
    rawId: passkey.id,
    type: 'public-key',
    response: {
      clientDataJSON: clientData('webauthn.create', options, given).toString('base64url'),
      attestationObject: attestation.toString('base64url'),
      transports: given.transports ?? ['internal', 'hybrid'],
    },
    clientExtensionResults: {},
    authenticatorAttachment: 'platform',
  }
  return { passkey, response }
}

/** `navigator.credentials.get`. Counts up, if the authenticator has a counter. */
export function assertPasskey(passkey: Passkey, options: Options, given: Deviations = {}) {
  if (passkey.counter > 0) passkey.counter++
  const { counter, rpId } = passkey
  const authData = authenticatorData({ counter, rpId, ...given }, 0)
  const client = clientData('webauthn.get', options, given)
  const signed = Buffer.concat([authData, hash('sha256', client, 'buffer')])
  const id = given.id ?? passkey.id
  return {
    id,
    rawId: id,
    type: 'public-key',
    response: {
      clientDataJSON: client.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: sign('sha256', signed, given.privateKey ?? passkey.privateKey).toString('base64url'),
      userHandle: given.userHandle ?? passkey.userHandle,
    },
    clientExtensionResults: {},
    authenticatorAttachment: 'platform',
  }
}

/** Adds a passkey to the account, by the API. */
export async function enrol(api: Api, { access }: SignedIn, given: Creation & { name?: string } = {}) {
  const options = await api.post('/api/auth/passkeys/options', { password }, access)
  assert.equal(options.status, 200, JSON.stringify(options.body))
  const { passkey, response } = createPasskey(options.body, given)
  const added = await api.post('/api/auth/passkeys', { name: given.name ?? 'My phone', response }, access)
  assert.equal(added.status, 201, JSON.stringify(added.body))
  return { passkey, id: added.body.data.id as string }
}

export async function loginOptions(api: Api): Promise<Options> {
  const { status, body } = await api.post('/api/auth/passkeys/login/options')
  assert.equal(status, 200)
  return body
}

/** Signs in with a new challenge. */
export async function logInWith(api: Api, passkey: Passkey, given: Deviations = {}) {
  const response = assertPasskey(passkey, await loginOptions(api), given)
  return api.post('/api/auth/passkeys/login', { response })
}

function authenticatorData(given: Deviations & { rpId: string; counter: number }, more: number): Buffer {
  const { rpId, counter, isPresent = true, isVerified = true } = given
  const rest = Buffer.alloc(5)
  const backup = counter === 0 ? flags.mayBackUp | flags.backedUp : 0
  rest[0] = (isPresent ? flags.present : 0) | (isVerified ? flags.verified : 0) | backup | more
  rest.writeUInt32BE(counter, 1)
  return Buffer.concat([hash('sha256', rpId, 'buffer'), rest])
}

function clientData(type: string, options: Options, given: Deviations): Buffer {
  const { origin = localOrigin, challenge = options.challenge, crossOrigin = false } = given
  return Buffer.from(JSON.stringify({ type: given.type ?? type, challenge, origin, crossOrigin }))
}

function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])
}
