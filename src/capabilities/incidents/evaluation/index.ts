/** The door of evaluation for commands: what a rule makes of samples and records. */

export type { GroupState, Sample } from './contract.ts'
export { groupsOfTask, matchesChange } from './event-match.ts'
export { ledgerMatches } from './ledger-matches.ts'
export { isPartial } from './outcome.ts'
export { planSlots } from './slots.ts'
export { afterReopen, afterResolve } from './step.ts'
