/** Remaining size of a response: of one operation, or of all operations of a batch. */
export interface ResponseBudget {
  characters: number
  fields: number
  lastRead: Promise<unknown>
  /** Frees the slot of a long response. Undefined for a short one. */
  release?: () => void
  isEnded: boolean
}
