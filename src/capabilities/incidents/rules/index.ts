/** The door of rules for resources: what a rule is, without the stores of the room. */

export { measuredSignals, rateSignals, scoreSignals, signals } from './condition-kinds.ts'
export { eventWarnings } from './event-warnings.ts'
export { dimensions, ruleFields, ruleShape } from './rule.ts'
export { ruleBody } from './rule-faults.ts'
export { canonicalRule } from './written-rule.ts'
