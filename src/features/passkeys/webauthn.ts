/**
 * Verifies the responses of authenticators with @simplewebauthn/server. The library is loaded on first use, because that
 * takes a quarter of a second.
 */
import type { Log } from '../../platform/log/logger.ts'
import { algorithms, toBytes } from './ceremony-options.ts'
import type { AuthenticationResponse, RegistrationResponse } from './passkeys.schema.ts'
import type { RelyingParty } from './relying-party.ts'

export interface NewCredential {
  credentialId: string
  publicKey: string
  counter: number
  transports: string[]
  deviceType: string
  isBackedUp: boolean
}

export interface Assertion {
  counter: number
  isBackedUp: boolean
}

const transports = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']
/** Longer than what an authenticator sends. */
const maxTextLength = 16_384
/** The standard's limit of 1023 bytes, in base64url. */
const maxCredentialIdLength = 1364
const type = 'public-key'

export function createWebAuthn({ party, log }: { party: RelyingParty; log: Log }) {
  /** Returns undefined if it does not verify. */
  async function verifyRegistration(
    given: RegistrationResponse,
    challenge: string,
  ): Promise<NewCredential | undefined> {
    const origin = originOf(given.response.clientDataJSON)
    if (origin === undefined || isLong(given.response.attestationObject)) return undefined
    try {
      const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
      await requireNoCertificates(given.response.attestationObject)
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response: { ...given, type, response: { ...given.response, transports: [] }, clientExtensionResults: {} },
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: party.id,
        requireUserVerification: true,
        supportedAlgorithmIDs: algorithms,
      })
      if (!verified || given.type !== type || registrationInfo.credential.id.length > maxCredentialIdLength) {
        return undefined
      }
      const { credential, credentialDeviceType, credentialBackedUp } = registrationInfo
      return {
        credentialId: credential.id,
        publicKey: toText(credential.publicKey),
        counter: credential.counter,
        transports: transports.filter((each) => given.response.transports?.includes(each)),
        deviceType: credentialDeviceType,
        isBackedUp: credentialBackedUp,
      }
    } catch (error) {
      return refuse(error)
    }
  }

  /** Returns undefined if it does not verify. The caller compares the counter with the last one. */
  async function verifyAssertion(
    given: AuthenticationResponse,
    { challenge, publicKey }: { challenge: string; publicKey: string },
  ): Promise<Assertion | undefined> {
    const origin = originOf(given.response.clientDataJSON)
    if (origin === undefined || isLong(given.response.authenticatorData) || isLong(given.response.signature)) {
      return undefined
    }
    try {
      const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: { ...given, type, clientExtensionResults: {} },
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: party.id,
        requireUserVerification: true,
        // 0 accepts every counter. The library would compare it before it has verified the signature.
        credential: { id: given.id, publicKey: toBytes(publicKey), counter: 0 },
      })
      return verified && given.type === type
        ? { counter: authenticationInfo.newCounter, isBackedUp: authenticationInfo.credentialBackedUp }
        : undefined
    } catch (error) {
      return refuse(error)
    }
  }

  /** The origin reported by the browser, if it is allowed. */
  function originOf(clientDataJSON: string): string | undefined {
    const { origin, crossOrigin } = readClientData(clientDataJSON)
    // In a frame of another site, users cannot see which site asks.
    return typeof origin === 'string' && party.isOwnOrigin(origin) && crossOrigin !== true ? origin : undefined
  }

  function refuse(error: unknown): undefined {
    log.debug({ err: error }, 'a passkey was refused')
  }

  return { verifyRegistration, verifyAssertion }
}

export type WebAuthn = ReturnType<typeof createWebAuthn>

/** The challenge that was signed; empty if there is none. It is not verified. */
export function challengeIn(clientDataJSON: string): string {
  const { challenge } = readClientData(clientDataJSON)
  return typeof challenge === 'string' ? challenge : ''
}

function readClientData(clientDataJSON: string): Record<string, unknown> {
  if (isLong(clientDataJSON)) return {}
  try {
    return Object(JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8')))
  } catch {
    return {}
  }
}

/**
 * We ask for no attestation, so browsers send none, or one that the new key itself has signed. Certificates are refused
 * unread: to check them, the library would follow the addresses in them.
 */
async function requireNoCertificates(attestationObject: string): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const attestation = decodeAttestationObject(toBytes(attestationObject))
  const format = attestation.get('fmt')
  const isSelfSigned = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined
  if (format !== 'none' && !isSelfSigned) throw new Error(`unexpected attestation ${format}`)
}

function isLong(text: string): boolean {
  return text.length > maxTextLength
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
