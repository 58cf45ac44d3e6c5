const list = new Intl.ListFormat('en')

/** What a password needs, before anybody has to guess: made of what is wrong with one that is empty. */
export function passwordHint(findPasswordProblems: (password: string) => string[]): string {
  const needs = list.format(findPasswordProblems('').map((problem) => problem.replace(/^Must (?:be|contain) /, '')))
  return needs === '' ? 'Choose a long one.' : `${needs.charAt(0).toUpperCase()}${needs.slice(1)}.`
}
