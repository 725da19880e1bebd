import fc from 'fast-check'
import {
  measuredSignals,
  rateSignals,
  totalSignals,
} from '../../../src/capabilities/incidents/rules/condition-kinds.ts'
import {
  type Rule,
  type RuleKind,
  ruleShape,
} from '../../../src/capabilities/incidents/rules/rule.ts'
import { effectiveTiersOf } from './slot-outcome.ts'

/** Rules of all kinds, with short durations so that histories of some dozens of slots end them. */
export function rules(kind?: RuleKind): fc.Arbitrary<Rule> {
  if (kind !== undefined) return rulesByKind[kind]
  return fc.oneof(...Object.values(rulesByKind), rulesByKind.condition)
}

const measured = fc
  .record({
    signal: fc.oneof(fc.constantFrom(...measuredSignals), fc.constantFrom(...totalSignals)),
    window: fc.constant('10m'),
    op: fc.constantFrom('gt', 'gte', 'lt', 'lte'),
    threshold: fc.constantFrom<(number | string)[]>(0, 5, '5', '5.5', -2),
    per: fc.option(fc.constantFrom('hour', 'task'), { nil: undefined }),
    min_samples: fc.constantFrom(1, 1, 3),
  })
  .map(({ per, ...condition }) => {
    const isMoney = condition.signal === 'cost' || condition.signal === 'tokens'
    return isMoney ? { ...condition, per } : condition
  })

const lag = fc.record({
  signal: fc.constant('ingest_lag'),
  longer_than: fc.constantFrom('10s', '1m', '3m'),
})

const absent = fc.constant({ signal: 'absent', window: '10m' })

const tiers = fc.uniqueArray(
  fc.record({
    factor: fc.constantFrom(1, 2, 5, 8),
    long: fc.constantFrom('1h', '6h'),
    short: fc.constantFrom('5m', '30m'),
    severity: fc.option(fc.constantFrom('low', 'medium', 'high', 'critical'), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 3, selector: ({ factor }) => factor },
)

const burnRate = fc.oneof(
  fc.record({
    signal: fc.constantFrom(...rateSignals),
    objective: fc.constantFrom(0.9, 0.95, 0.98),
    min_bad: fc.constantFrom(1, 5),
    tiers,
  }),
  fc.record({
    signal: fc.constantFrom(...rateSignals),
    objective: fc.constantFrom(0.5, 0.95, 0.98),
    preset: fc.constant('standard'),
  }),
)

const baseline = fc
  .record({
    signal: fc.constantFrom('cost', 'tokens', 'error_rate', 'ttft_p95', 'loop_count'),
    per: fc.option(fc.constant('task'), { nil: undefined }),
    max_ratio: fc.constantFrom(1.5, 2),
    floor: fc.constantFrom(0, 15),
    min_samples: fc.constantFrom(1, 3),
  })
  .map(({ per, ...rest }) => {
    return rest.signal === 'cost' || rest.signal === 'tokens' ? { ...rest, per } : rest
  })

const event = fc
  .record({
    count: fc.constantFrom(1, 1, 2, 3),
    within: fc.constantFrom('30s', '1m', '2m'),
    isAlone: fc.boolean(),
  })
  .map(({ count, within, isAlone }) => {
    const match = { source: 'finding', kinds: ['loop'] }
    return count === 1 && isAlone ? { match } : { match, count, within }
  })

const keep = fc.option(fc.constantFrom('0s', '1m', '2m', '150s', '5m'), { nil: undefined })

/** `info` is left out: severities of the slower tiers below it are undefined. */
const severity = fc.constantFrom('low', 'medium', 'high', 'critical')

const slotFields = {
  interval: fc.constantFrom('1m', '1m', '30s'),
  delay: fc.constantFrom('0s', '1m', '2m'),
  for: fc.constantFrom('0s', '0s', '1m', '90s', '3m', '6m'),
  keep_firing_for: keep,
  no_data: fc.option(fc.constantFrom('ok', 'alerting', 'keep'), { nil: undefined }),
  severity,
}

const rulesByKind: Record<RuleKind, fc.Arbitrary<Rule>> = {
  condition: ruleOf({ ...slotFields, condition: fc.oneof(measured, measured, lag, absent) }),
  burn_rate: ruleOf({ ...slotFields, burn_rate: burnRate }).filter(
    (rule) => effectiveTiersOf(rule).length > 0,
  ),
  baseline: ruleOf({ ...slotFields, baseline }),
  event: ruleOf({ delay: fc.constant('1m'), keep_firing_for: keep, severity, event }),
}

function ruleOf(fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Rule> {
  return fc.record({ name: fc.constant('rule'), ...fields }).map((body) => ruleShape.parse(body))
}
