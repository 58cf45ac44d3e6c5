const pattern =
  /^[^\s@"(),:;<>[\\\]]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/i

/** An email as it is kept and compared: without spaces around it, in lower case. */
export function normaliseEmail(given: string): string {
  return given.trim().toLowerCase()
}

export function isEmail(email: string): boolean {
  const [local = ''] = email.split('@', 1)
  return pattern.test(email) && local.length <= 64 && !/^\.|\.\.|\.$/.test(local)
}
