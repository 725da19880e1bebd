/** Kinds of findings: loops, failures, lost context, and claims of answers without support. */
export const findingKinds = ['loop', 'failure', 'context', 'claim'] as const
export type FindingKind = (typeof findingKinds)[number]
