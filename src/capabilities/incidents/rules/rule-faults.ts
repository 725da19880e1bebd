import { durationMs } from '../../../kernel/duration.ts'
import { dedupKeyFault } from './dedup-key.ts'
import { burnFaults, type Fault, measuredFaults, thresholdFaults } from './kind-faults.ts'
import { type Rule, ruleKinds, ruleShape } from './rule.ts'

/** Time without data after which a group is forgotten, if no setting says otherwise. */
export const forgetAfterMs = 24 * 3_600_000

/** The body of a rule whose fields fit each other, and that can fire. */
export const ruleBody = ruleShape.superRefine((rule, context) => {
  for (const { path, message } of ruleFaults(rule)) {
    context.addIssue({ code: 'custom', path: [...path], message })
  }
})

/** Returns why a rule is refused: fields of another kind, and rules that can never fire. */
export function ruleFaults(rule: Rule): Fault[] {
  const kinds = ruleKinds.filter((kind) => rule[kind] !== undefined)
  if (kinds.length !== 1) {
    const got = kinds.length === 0 ? 'none of them' : kinds.join(' and ')
    return [{ path: [], message: `got ${got}, expected exactly one of ${ruleKinds.join(', ')}` }]
  }
  return [
    ...kindFaults(rule),
    ...slotFaults(rule),
    ...projectWideFaults(rule),
    ...groupFaults(rule),
    ...escalationFaults(rule),
    ...inhibitionFaults(rule),
    ...sizeFaults(rule),
  ]
}

function kindFaults(rule: Rule): Fault[] {
  if (rule.condition !== undefined) return thresholdFaults(rule.condition)
  if (rule.burn_rate !== undefined) return burnFaults(rule.burn_rate)
  if (rule.baseline !== undefined) {
    const { signal, per, floor } = rule.baseline
    return measuredFaults('baseline', { signal, per, op: 'gt', threshold: floor, field: 'floor' })
  }
  return eventFaults(rule)
}

function eventFaults({ event, for: wait, no_data }: Rule): Fault[] {
  if (event === undefined) return []
  const faults: Fault[] = []
  if (durationMs(wait) > 0) {
    const message = `got ${wait}, but a match has no duration. Use \`count\` and \`within\` instead.`
    faults.push({ path: ['for'], message })
  }
  if (no_data !== undefined) {
    faults.push({ path: ['no_data'], message: 'event rules have no slots without data' })
  }
  if (event.count > 1 && event.within === undefined) {
    const message = `expected a duration in which ${event.count} matches are counted`
    faults.push({ path: ['event', 'within'], message })
  }
  if (event.count === 1 && event.within !== undefined) {
    const message = 'has no effect, because `count` is 1: a single match fires'
    faults.push({ path: ['event', 'within'], message })
  }
  if (event.match.source === 'finding') return faults
  for (const field of ['kinds', 'min_severity', 'min_confidence'] as const) {
    if (event.match[field] === undefined) continue
    const message = `only findings have it, and the source is ${event.match.source}`
    faults.push({ path: ['event', 'match', field], message })
  }
  return faults
}

/** Rules that are evaluated at slots: the times must fit each other. */
function slotFaults({ condition, burn_rate, no_data, ...rule }: Rule): Fault[] {
  const faults: Fault[] = []
  const signal = condition?.signal
  const windows = condition && 'window' in condition ? [condition.window] : []
  for (const window of [...windows, ...(burn_rate?.tiers ?? []).map(({ short }) => short)]) {
    if (durationMs(window) >= durationMs(rule.interval)) continue
    const message = `got ${rule.interval}, longer than the window ${window}: rows between two windows would not be read`
    faults.push({ path: ['interval'], message })
  }
  if (no_data !== undefined && (signal === 'absent' || signal === 'ingest_lag')) {
    const message = `does not apply to \`${signal}\`, which has a value without data`
    faults.push({ path: ['no_data'], message })
  }
  const absent_ms = durationMs(rule.for) + durationMs(rule.interval)
  if (signal === 'absent' && absent_ms > forgetAfterMs) {
    const hours = Number((absent_ms / 3_600_000).toFixed(2))
    const message = `never fires: \`for\` ${rule.for} + \`interval\` ${rule.interval} = ${hours} h, and a group without rows is forgotten after 24 h`
    faults.push({ path: ['for'], message })
  }
  return faults
}

/** The ledger counts a project: its values have no models, tasks or releases. */
function projectWideFaults({ condition, baseline, event, ...rule }: Rule): Fault[] {
  const signal = condition?.signal ?? baseline?.signal ?? ''
  if (!signal.startsWith('ingest_') && event?.match.source !== 'ledger') return []
  const faults: Fault[] = []
  const message = 'the ledger counts a whole project, so that no group or row can be selected'
  if (rule.group_by.length > 0) faults.push({ path: ['group_by'], message })
  if (Object.keys(rule.selector).length > 0) faults.push({ path: ['selector'], message })
  return faults
}

function groupFaults(rule: Rule): Fault[] {
  const faults: Fault[] = []
  const twice = rule.group_by.find((one, at) => rule.group_by.indexOf(one) !== at)
  if (twice !== undefined) faults.push({ path: ['group_by'], message: `got \`${twice}\` twice` })
  const message = dedupKeyFault(rule)
  if (message !== undefined) faults.push({ path: ['dedup_key'], message })
  return faults
}

function escalationFaults({ escalation }: Rule): Fault[] {
  return escalation.flatMap(({ after }, at): Fault[] => {
    const before = escalation[at - 1]?.after
    if (before === undefined || durationMs(after) > durationMs(before)) return []
    const message = `got ${after}, expected more than ${before} of the step before`
    return [{ path: ['escalation', at, 'after'], message }]
  })
}

function inhibitionFaults({ name, group_by, inhibited_by }: Rule): Fault[] {
  return inhibited_by.flatMap(({ rule, labels, equal }, at): Fault[] => {
    const path = ['inhibited_by', at]
    const isNamed = rule !== undefined
    const isLabelled = labels !== undefined && Object.keys(labels).length > 0
    if (isNamed === isLabelled || (isNamed && labels !== undefined)) {
      return [{ path, message: 'expected either `rule` or at least one of `labels`' }]
    }
    if (rule === name) {
      return [{ path: [...path, 'rule'], message: 'a rule cannot inhibit itself' }]
    }
    const missing = equal.find((dimension) => !group_by.includes(dimension))
    if (missing === undefined) return []
    const message = `never inhibits: \`group_by\` lacks \`${missing}\``
    return [{ path: [...path, 'equal'], message }]
  })
}

const entries_max = 50

/** Each incident and each message has a copy of the annotations. */
const annotations_characters_max = 16_000

function sizeFaults(rule: Rule): Fault[] {
  const faults = (['labels', 'annotations'] as const).flatMap((field): Fault[] => {
    const count = Object.keys(rule[field]).length
    const message = `got ${count} entries, expected at most ${entries_max}`
    return count > entries_max ? [{ path: [field], message }] : []
  })
  const characters = Object.values(rule.annotations).join('').length
  if (characters <= annotations_characters_max) return faults
  const message = `got ${characters} characters together, expected at most ${annotations_characters_max}`
  return [...faults, { path: ['annotations'], message }]
}
