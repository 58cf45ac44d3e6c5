import { mayUpdate, mayView } from '../admin.access.ts'

export const mayViewPages = { access: mayView, docs: false } as const
// users.view too, because a refusal is shown on the user's page.
export const mayUpdatePages = { access: [mayView, mayUpdate], docs: false } as const
