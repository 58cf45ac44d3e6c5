const list = new Intl.ListFormat('en')

/** Describes the password policy, derived from the problems of an empty password. */
export function passwordHint(findPasswordProblems: (password: string) => string[]): string {
  const needs = list.format(findPasswordProblems('').map((problem) => problem.replace(/^Must (?:be|contain) /, '')))
  return needs === '' ? 'Choose a long one.' : `${needs.charAt(0).toUpperCase()}${needs.slice(1)}.`
}
