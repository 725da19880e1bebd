import { isDeepStrictEqual } from 'node:util'
import { type Rule, ruleFields } from '../../capabilities/incidents/rules/rule.ts'
import { canonicalRule } from '../../capabilities/incidents/rules/written-rule.ts'

/** A rule of the project, as the API shows it. */
export type KnownRule = Readonly<Record<string, unknown>> & {
  rule_id: string
  name: string
  version: number
  /** The Kubernetes resource that declares the rule; null for others. */
  managed_by: { namespace: string; name: string } | null
  evaluation: { open_incidents: number }
}

/** A field in which two rules differ. */
type Difference = { field: string; before: unknown; after: unknown }

/** The step about a rule. */
export type PlannedStep =
  | { action: 'create'; name: string; rule: Rule }
  | { action: 'change'; name: string; rule: Rule; known: KnownRule; differences: Difference[] }
  | { action: 'delete'; name: string; known: KnownRule }
  | { action: 'none'; name: string }
  /** A Kubernetes resource declares the rule, which only that resource may change. */
  | { action: 'refuse'; name: string; owner: string }

/**
 * Plans the changes that make the rules of a project those of files, in the order of the files. With
 * `prune`, rules that no file has are deleted, except those that a resource declares. Deletions come
 * first: the project may have the maximum of rules.
 */
export function planRules(
  wanted: readonly Rule[],
  known: readonly KnownRule[],
  { prune }: { prune: boolean },
): PlannedStep[] {
  const byName = new Map(known.map((one) => [one.name, one]))
  const names = new Set(wanted.map(({ name }) => name))
  const gone = known.filter(({ name, managed_by }) => !names.has(name) && managed_by === null)
  const deleted = prune ? gone : []
  return [
    ...deleted.map((one): PlannedStep => ({ action: 'delete', name: one.name, known: one })),
    ...wanted.map((rule) => planRule(rule, byName.get(rule.name))),
  ]
}

function planRule(rule: Rule, known: KnownRule | undefined): PlannedStep {
  const { name } = rule
  if (known === undefined) return { action: 'create', name, rule }
  const differences = differencesOf(rule, known)
  if (differences.length === 0) return { action: 'none', name }
  const { managed_by } = known
  if (managed_by !== null) {
    return { action: 'refuse', name, owner: `${managed_by.namespace}/${managed_by.name}` }
  }
  return { action: 'change', name, rule, known, differences }
}

/** Returns the fields in which a rule of the project differs from that of a file. */
function differencesOf(rule: Rule, known: KnownRule): Difference[] {
  const before = canonicalRule(known) as Readonly<Record<string, unknown>>
  // As JSON, because undefined fields are absent in the API.
  const after = JSON.parse(JSON.stringify(canonicalRule(rule))) as Readonly<Record<string, unknown>>
  return Object.keys(ruleFields).flatMap((field): Difference[] => {
    const [one, other] = [before[field] ?? null, after[field] ?? null]
    return isDeepStrictEqual(one, other) ? [] : [{ field, before: one, after: other }]
  })
}
