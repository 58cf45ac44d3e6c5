/** The permissions of administration, and the requirements made from them. */

export const permissions = { viewUsers: 'users.view', updateUsers: 'users.update', viewAudit: 'audit.view' } as const

export const mayView = { permission: permissions.viewUsers } as const
export const mayUpdate = { permission: permissions.updateUsers } as const
export const mayAudit = { permission: permissions.viewAudit } as const

export const mayViewPages = { access: mayView, docs: false } as const
// users.view too, because a refusal is shown on the user's page.
export const mayUpdatePages = { access: [mayView, mayUpdate], docs: false } as const
