import { defineEvent } from '../../platform/events/events.ts'

/** Emitted once the new user is stored, by whatever way it was registered. */
export const userRegistered = defineEvent<{ id: number; email: string }>('UserRegistered')
