import type { Fault } from '../../api/problem.ts'
import type { IncidentRule, IncidentRuleKind, IncidentRuleRequest } from '../../api/schema.gen.d.ts'

/**
 * A rule as it is edited: the body of the API, without values that are the default. What is typed may
 * be refused by the API.
 */
export type RuleDraft = Partial<IncidentRuleRequest> &
  Pick<IncidentRuleRequest, 'name' | 'severity'>

/** Kinds of rules by their section, with what people read. */
export const kinds = [
  ['condition', 'A value beyond a threshold'],
  ['burn_rate', 'An error budget that burns too fast'],
  ['baseline', 'A value far above the same hour of other weeks'],
  ['event', 'A finding, verification or ledger entry'],
] as const satisfies readonly (readonly [IncidentRuleKind, string])[]

const sections = kinds.map(([kind]) => kind)

/** Values that the API uses for fields that are left out. */
const defaults = {
  selector: {},
  group_by: [],
  interval: '1m',
  delay: '1m',
  for: '0s',
  labels: {},
  annotations: {},
  inhibited_by: [],
  auto_resolve: true,
  reopen_within: '15m',
  escalation: [],
  notify: [],
  mode: 'live' as const,
  suspend: false,
  grouping: { wait: '30s', interval: '5m', repeat: '4h' },
}

/** Fields of a rule that people set, in the order of the YAML. */
const fields = [
  ...(['name', 'description', ...sections, 'selector', 'group_by', 'interval', 'delay'] as const),
  ...(['for', 'keep_firing_for', 'no_data', 'severity', 'labels', 'annotations'] as const),
  ...(['runbook_url', 'dedup_key', 'grouping', 'inhibited_by', 'auto_resolve'] as const),
  ...(['reopen_within', 'ack_timeout', 'escalation', 'assign_to', 'notify', 'mode'] as const),
  'suspend' as const,
]

/** Returns the part of a stored rule that can be sent back, without values that are the default. */
export function draftOf(stored: IncidentRule | RuleDraft): RuleDraft {
  const known: Readonly<Record<string, unknown>> = stored
  const entries = fields.flatMap((field) => {
    const value = known[field]
    return value === undefined || isDefault(field, value) ? [] : [[field, value] as const]
  })
  return Object.fromEntries(entries) as RuleDraft
}

function isDefault(field: string, value: unknown): boolean {
  const usual: Readonly<Record<string, unknown>> = { ...defaults, description: '' }
  return field in usual && sameJson(value, usual[field])
}

/** Returns the body for the API. */
export function requestOf(draft: RuleDraft): IncidentRuleRequest {
  return { ...defaults, ...draft }
}

/** Returns whether two values are the same JSON, in any order of fields. */
export function sameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(ordered(one)) === JSON.stringify(ordered(other))
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, ordered(each)]),
  )
}

/** Returns a rule to begin with. */
export function newRule(): RuleDraft {
  return {
    name: '',
    severity: 'medium',
    condition: { signal: 'error_rate', window: '10m', op: 'gt', threshold: 0.2, min_samples: 20 },
    for: '5m',
  }
}

/** Returns the kind of a draft: the section that it has. */
export function kindOf(draft: RuleDraft): IncidentRuleKind {
  return sections.find((section) => draft[section] !== undefined) ?? 'condition'
}

/** Returns a draft of another kind, with a usual section of it. */
export function withKind(draft: RuleDraft, kind: IncidentRuleKind): RuleDraft {
  const { condition: _, burn_rate: _burn, baseline: _baseline, event: _event, ...rest } = draft
  switch (kind) {
    case 'condition': {
      const { condition } = newRule()
      return { ...rest, ...(condition && { condition }) }
    }
    case 'burn_rate':
      return {
        ...rest,
        burn_rate: { signal: 'error_rate', objective: 0.95, min_bad: 5, preset: 'standard' },
      }
    case 'baseline':
      return { ...rest, baseline: { signal: 'cost', max_ratio: 3, floor: 1, min_samples: 1 } }
    case 'event': {
      const { for: _for, ...without } = rest
      return { ...without, event: { match: { source: 'finding', kinds: ['loop'] }, count: 1 } }
    }
  }
}

/** Returns the signal of a rule, in words for a list. */
export function signalOf(rule: Pick<IncidentRule, IncidentRuleKind>): string {
  const { condition, burn_rate, baseline, event } = rule
  const signal = condition?.signal ?? burn_rate?.signal ?? baseline?.signal
  if (signal !== undefined) return signal.replaceAll('_', ' ')
  const { source = '', kinds: some, types } = event?.match ?? {}
  return [source, (types ?? some ?? []).join(', ')].filter((each) => each !== '').join(': ')
}

/** Properties of the form fields of a rule. */
export type FieldsProps = {
  draft: RuleDraft
  faults: readonly Fault[] | undefined
  isLocked: boolean
  onChange: (draft: RuleDraft) => void
}
