import type { FindingKind } from '../../api/schema.gen.d.ts'

/** The kinds of findings of the API, in the order of its pages. A missing one is an error of types. */
const order: Readonly<Record<FindingKind, number>> = { loop: 0, failure: 1, context: 2, claim: 3 }

export const findingKinds = Object.keys(order) as FindingKind[]
