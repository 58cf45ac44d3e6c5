/**
 * Where the compiler is known to answer something else than the specification has it. Such documents are rare, and are
 * executed as they are. A test compares both ways over random documents.
 */
import { BREAK, type DocumentNode, visit } from 'graphql'

export function compilesRight(document: DocumentNode): boolean {
  let isRight = true
  const giveUp = () => {
    isRight = false
    return BREAK
  }
  visit(document, {
    // @skip and @include: what is there twice, once under a condition and once not, loses fields or keeps too many.
    Directive: giveUp,
    // Names that every object has by itself are mistaken for what is there.
    Name: ({ value }) => (value in Object.prototype ? giveUp() : undefined),
  })
  return isRight
}
