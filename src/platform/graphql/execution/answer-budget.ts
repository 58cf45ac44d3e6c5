/** What is left of an answer's room: of one operation, or of all operations of a batch. */
export interface AnswerBudget {
  characters: number
  fields: number
  lastRead: Promise<unknown>
  /** Gives the place among the long answers to the next one. Undefined for a short answer. */
  release?: () => void
  isEnded: boolean
}
