import type { Incident } from '../life-cycle/incident.ts'
import type { Group } from '../rules/groups.ts'
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

/** The rules of a project by their names. */
type RulesByName = ReadonlyMap<string, Rule>

/**
 * Returns the sources that mute an incident: each of its contributors is inhibited, otherwise another
 * rule has news.
 */
export function incidentInhibitors(
  { id, contributors }: { id: string } & Pick<Incident, 'contributors'>,
  rules: RulesByName,
  sources: readonly InhibitionSource[],
): string[] {
  if (sources.length === 0) return []
  const ids = contributors.map(({ rule: name, group }) => {
    const rule = rules.get(name)
    return rule === undefined
      ? []
      : inhibitors({ id, rule, group: JSON.parse(group) as Group }, sources)
  })
  return ids.some((one) => one.length === 0) ? [] : ids.flat()
}

/** Returns an incident as sources of inhibitions: its contributors, or its opener without any. */
export function incidentSources(
  opener: InhibitionSource,
  { contributors }: Pick<Incident, 'contributors'>,
  rules: RulesByName,
): InhibitionSource[] {
  // After the last end, a person has not resolved the incident yet.
  if (contributors.length === 0) return [opener]
  const { id, state } = opener
  return contributors.flatMap((one) => {
    const rule = rules.get(one.rule)
    return rule === undefined ? [] : [{ id, state, rule, group: JSON.parse(one.group) as Group }]
  })
}

/** Returns whether an inhibition names a rule, by its name or by all its labels. */
function isSource({ rule, labels }: Inhibition, source: Pick<Rule, 'name' | 'labels'>): boolean {
  if (rule !== undefined) return rule === source.name
  return Object.entries(labels ?? {}).every(([name, value]) => source.labels[name] === value)
}

type Inhibiting = Pick<Rule, 'name' | 'labels' | 'inhibited_by'>

/**
 * Returns the rules of a project that inhibit each other, or themselves, as a path that ends where
 * it begins; undefined without one. Such rules could mute each other for ever.
 */
export function mutualInhibition(rules: readonly Inhibiting[]): string[] | undefined {
  const sourcesOf = openSources(rules)
  const visited = new Set<string>()
  for (const rule of rules) {
    const path = findCycle(rule, sourcesOf, visited)
    if (path !== undefined) return path
  }
  return undefined
}

type SourcesOf = (rule: Inhibiting) => Iterator<Inhibiting>

/** Indexes rules by name and by label, because a rule may be inhibited by all others. */
function openSources(rules: readonly Inhibiting[]): SourcesOf {
  const byName = Map.groupBy(rules, ({ name }) => name)
  const byLabel = new Map<string, Inhibiting[]>()
  for (const rule of rules) {
    for (const label of Object.entries(rule.labels)) {
      const key = JSON.stringify(label)
      const labelled = byLabel.get(key)
      if (labelled === undefined) byLabel.set(key, [rule])
      else labelled.push(rule)
    }
  }
  const candidates = ({ rule, labels }: Inhibition): readonly Inhibiting[] => {
    if (rule !== undefined) return byName.get(rule) ?? []
    const lists = Object.entries(labels ?? {}).map(
      (label) => byLabel.get(JSON.stringify(label)) ?? [],
    )
    return lists.toSorted((one, other) => one.length - other.length)[0] ?? rules
  }
  return function* ({ inhibited_by }) {
    for (const inhibition of inhibited_by) {
      for (const rule of candidates(inhibition)) if (isSource(inhibition, rule)) yield rule
    }
  }
}

/**
 * Sorts rules so that the sources of inhibitions come before their targets: what opens in one
 * evaluation is muted as if it had opened one after the other.
 */
export function sourcesFirst<R extends Inhibiting>(rules: readonly R[]): R[] {
  if (rules.every(({ inhibited_by }) => inhibited_by.length === 0)) return [...rules]
  const sourcesOf = openSources(rules)
  const sorted = new Set<Inhibiting>()
  const entered = new Set<Inhibiting>()
  const enter = (rule: Inhibiting) => {
    entered.add(rule)
    return { rule, sources: sourcesOf(rule) }
  }
  for (const rule of rules) {
    const path = entered.has(rule) ? [] : [enter(rule)]
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const source = step.sources.next()
      if (source.done === true) {
        sorted.add(step.rule)
        path.pop()
      } else if (!entered.has(source.value)) {
        path.push(enter(source.value))
      }
    }
  }
  return [...sorted] as R[]
}

/** Searches depth-first without recursion: rules may form a long chain. */
function findCycle(
  from: Inhibiting,
  sourcesOf: SourcesOf,
  visited: Set<string>,
): string[] | undefined {
  const path = new Map<string, Iterator<Inhibiting>>()
  const enter = (rule: Inhibiting) => {
    visited.add(rule.name)
    path.set(rule.name, sourcesOf(rule))
  }
  if (!visited.has(from.name)) enter(from)
  const current: string[] = [...path.keys()]
  for (let name = current.at(-1); name !== undefined; name = current.at(-1)) {
    const { value: source, done } = path.get(name)?.next() ?? { value: undefined, done: true }
    if (done) {
      path.delete(name)
      current.pop()
    } else if (path.has(source.name)) {
      return [...current.slice(current.indexOf(source.name)), source.name]
    } else if (!visited.has(source.name)) {
      enter(source)
      current.push(source.name)
    }
  }
  return undefined
}
