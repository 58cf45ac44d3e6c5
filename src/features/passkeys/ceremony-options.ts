/** The options that browsers need to create a passkey, or to sign in with one. */
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import { challengeSeconds } from './challenges.ts'
import type { RelyingParty } from './relying-party.ts'

export interface CreationOptions {
  challenge: string
  userHandle: string
  email: string
  name: string
  /** The user's passkeys, so that no authenticator creates a second one. */
  existing: readonly { id: string; transports: string[] }[]
}

/** EdDSA, ES256 and RS256. */
export const algorithms = [-8, -7, -257]

export function createCeremonyOptions(party: RelyingParty) {
  async function forCreation(given: CreationOptions): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { generateRegistrationOptions } = await import('@simplewebauthn/server')
    return generateRegistrationOptions({
      rpID: party.id,
      rpName: party.name,
      userID: toBytes(given.userHandle),
      userName: given.email,
      userDisplayName: given.name === '' ? given.email : given.name,
      challenge: toBytes(given.challenge),
      timeout: challengeSeconds * 1000,
      attestationType: 'none',
      excludeCredentials: [...given.existing],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      supportedAlgorithmIDs: algorithms,
    })
  }

  /** Every visitor of the sign-in page requests them, so the library is not used. They name no credentials. */
  function forRequest(challenge: string) {
    return {
      challenge,
      rpId: party.id,
      timeout: challengeSeconds * 1000,
      allowCredentials: [],
      userVerification: 'required' as const,
    }
  }

  return { forCreation, forRequest }
}

export type CeremonyOptions = ReturnType<typeof createCeremonyOptions>

export function toBytes(base64url: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(base64url, 'base64url'))
}
