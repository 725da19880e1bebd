/** The door of rules for the operator and commands: what a rule is, without the stores of the room. */

export { effectiveTiers } from './burn-tiers.ts'
export { duration, measuredSignals, rateSignals, scoreSignals, signals } from './condition-kinds.ts'
export { dedupKey } from './dedup-key.ts'
export { eventWarnings } from './event-warnings.ts'
export { type Group, groupKey } from './groups.ts'
export { type Dimension, dimensions, type Rule, ruleFields, ruleShape } from './rule.ts'
export { forgetAfterMs, ruleBody } from './rule-faults.ts'
export { canonicalRule } from './written-rule.ts'
