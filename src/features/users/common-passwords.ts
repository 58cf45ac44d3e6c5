/** Passwords that attackers try first. Loaded only where they are refused: the list takes 20 MB. */

/** What is left of a password without its ending is looked up too, unless it is too short to be one. */
const minStemLength = 4

export async function loadCommonPasswords(): Promise<(password: string) => boolean> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  const common = new Set(dictionary['passwords-common'])
  return (password) => {
    const lower = password.toLowerCase()
    // "Password123!" is "password" with what a policy asked for.
    const stem = withoutEnding(lower)
    return common.has(lower) || (stem.length >= minStemLength && common.has(stem))
  }
}

function withoutEnding(text: string): string {
  let end = text.length
  while (end > 0 && !/\p{L}/u.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** Whether it holds the user's own email, or a name of at least four characters. */
export function isPersonal(password: string, { email = '', name = '' }: { email?: string; name?: string }): boolean {
  const lower = password.toLowerCase()
  const [local = ''] = email.toLowerCase().split('@', 1)
  return [local, ...name.toLowerCase().split(/\s+/)].some(
    (each) => each.length >= minStemLength && lower.includes(each),
  )
}
