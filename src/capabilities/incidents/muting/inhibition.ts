import type { Group } from '../evaluation/groups.ts'
import type { Incident } from '../life-cycle/incident.ts'
import type { Inhibition, Rule } from '../rules/rule.ts'

/** An incident that may inhibit others, as one of its rules and groups. */
export type InhibitionSource = {
  /** Id of the incident. */
  id: string
  state: Incident['state']
  rule: Pick<Rule, 'name' | 'labels'>
  group: Group
}

/** A rule and its group that may be inhibited. */
export type InhibitionTarget = { id: string; rule: Pick<Rule, 'inhibited_by'>; group: Group }

/**
 * Returns the ids of the incidents that mute the messages of another one. Open and acknowledged
 * incidents inhibit, muted ones too. All dimensions of `equal` must be present and equal.
 */
export function inhibitors(
  target: InhibitionTarget,
  sources: readonly InhibitionSource[],
): string[] {
  const ids = sources
    .filter(({ id, state }) => id !== target.id && state !== 'resolved')
    .filter((source) =>
      target.rule.inhibited_by.some(
        (inhibition) =>
          isSource(inhibition, source.rule) &&
          inhibition.equal.every((dimension) => {
            const value = target.group[dimension]
            return value !== undefined && value === source.group[dimension]
          }),
      ),
    )
    .map(({ id }) => id)
  return [...new Set(ids)].toSorted()
}

/** Returns whether an inhibition names a rule, by its name or by all its labels. */
function isSource({ rule, labels }: Inhibition, source: Pick<Rule, 'name' | 'labels'>): boolean {
  if (rule !== undefined) return rule === source.name
  return Object.entries(labels ?? {}).every(([name, value]) => source.labels[name] === value)
}

/**
 * Returns the rules of a project that inhibit each other, or themselves, as a path that ends where
 * it begins; undefined without one. Such rules could mute each other for ever.
 */
export function mutualInhibition(
  rules: readonly Pick<Rule, 'name' | 'labels' | 'inhibited_by'>[],
): string[] | undefined {
  const sources = new Map(
    rules.map(({ name, inhibited_by }) => [
      name,
      rules
        .filter((other) => inhibited_by.some((inhibition) => isSource(inhibition, other)))
        .map((other) => other.name),
    ]),
  )
  const visited = new Set<string>()
  for (const { name } of rules) {
    const path = findCycle(name, sources, visited)
    if (path !== undefined) return path
  }
  return undefined
}

/**
 * Sorts rules so that the sources of inhibitions come before their targets: what opens in one
 * evaluation is muted as if it had opened one after the other.
 */
export function sourcesFirst<R extends Pick<Rule, 'name' | 'labels' | 'inhibited_by'>>(
  rules: readonly R[],
): R[] {
  const depths = new Map(rules.map((rule) => [rule, 0]))
  const inhibited = rules.filter(({ inhibited_by }) => inhibited_by.length > 0)
  // Without a cycle, a chain is as long as the list at most.
  for (let round = 0, isChanged = true; isChanged && round < inhibited.length; round += 1) {
    isChanged = false
    for (const rule of inhibited) {
      const above = rules.filter((other) => rule.inhibited_by.some((one) => isSource(one, other)))
      const depth = 1 + Math.max(-1, ...above.map((other) => depths.get(other) ?? 0))
      if (depth <= (depths.get(rule) ?? 0)) continue
      depths.set(rule, depth)
      isChanged = true
    }
  }
  return rules.toSorted((one, other) => (depths.get(one) ?? 0) - (depths.get(other) ?? 0))
}

/** Searches depth-first without recursion: rules may form a long chain. */
function findCycle(
  from: string,
  sources: ReadonlyMap<string, readonly string[]>,
  visited: Set<string>,
): string[] | undefined {
  const path: { name: string; next: number }[] = []
  const enter = (name: string) => {
    visited.add(name)
    path.push({ name, next: 0 })
  }
  if (!visited.has(from)) enter(from)
  for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
    const source = sources.get(step.name)?.[step.next]
    step.next += 1
    if (source === undefined) {
      path.pop()
      continue
    }
    const begin = path.findIndex(({ name }) => name === source)
    if (begin >= 0) return [...path.slice(begin).map(({ name }) => name), source]
    if (!visited.has(source)) enter(source)
  }
  return undefined
}
