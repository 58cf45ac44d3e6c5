/** Describes the password policy, derived from the problems of an empty password. */
export function passwordHint(findPasswordProblems: (password: string) => string[]): string {
  const needs = listed(findPasswordProblems('').map((problem) => problem.replace(/^Must (?:be|contain) /, '')))
  return needs === '' ? 'Choose a long one.' : `${needs.charAt(0).toUpperCase()}${needs.slice(1)}.`
}

/** As `Intl.ListFormat` does it, which takes 20 ms to load and is needed at every start. */
function listed(parts: readonly string[]): string {
  if (parts.length <= 2) return parts.join(' and ')
  return `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`
}
