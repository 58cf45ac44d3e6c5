/** Opens the overview, and what it says about the service itself. Other figures need the permission of their own pages. */
export const overviewAccess = { permission: 'overview.view' } as const

/** The sign-ins are counted from the audit trail. */
export const signInsPermission = 'audit.view'
