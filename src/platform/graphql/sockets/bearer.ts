/** The token of `Bearer …`; undefined where it is something else, which is as good as a token that is not valid. */
export function bearerOf(authorization: string): string | undefined {
  return /^Bearer +(.+)$/i.exec(authorization)?.[1]
}
