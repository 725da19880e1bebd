/** The door of the life-cycle for commands: incidents, their moves, timers and notices. */

export { advanceGroup } from './advance-group.ts'
export { applyTimers, joinTimers } from './due.ts'
export type { Actor, Changed, Incident } from './incident.ts'
export { type Move, moveIncident } from './move.ts'
export { announced, applyMuting, type Notice, noticesOf } from './notices.ts'
export { orphan } from './record-transition.ts'
