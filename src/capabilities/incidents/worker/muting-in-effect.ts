import { sql } from '../../../platform/relational/index.ts'
import type { Incident } from '../life-cycle/incident.ts'
import type { Muting } from '../life-cycle/notices.ts'
import { type InhibitionSource, incidentInhibitors, incidentSources } from '../muting/inhibition.ts'
import { isActive, isMatch, type Suppression } from '../muting/suppression.ts'
import type { IncidentDb } from '../ports.ts'
import type { Group } from '../rules/groups.ts'
import type { Rule } from '../rules/rule.ts'
import { coreOf, type Origin, type StoredIncident } from '../store/incident-row.ts'
import { toRule } from '../store/rule-rows.ts'

/** The mutes of the incidents of a project at a time. */
export class MutingInEffect {
  readonly #suppressions: readonly { id: string; spec: Suppression }[]
  readonly #rules: ReadonlyMap<string, Rule>
  readonly #sources = new Map<string, InhibitionSource[]>()
  readonly #now_ms: number
  readonly #hasInhibitions: boolean
  #active: readonly { id: string; spec: Suppression }[] | undefined

  constructor({ suppressions, rules, incidents }: MutingFacts, now_ms: number) {
    this.#suppressions = suppressions
    this.#rules = new Map(rules.map((rule) => [rule.name, rule]))
    this.#now_ms = now_ms
    this.#hasInhibitions = rules.some(({ inhibited_by }) => inhibited_by.length > 0)
    for (const row of incidents) this.note(row)
  }

  /** Takes note of a changed incident, which may mute others. */
  note(row: StoredIncident): void {
    if (!this.#hasInhibitions) return
    if (row.state === 'resolved') this.#sources.delete(row.id)
    else this.#sources.set(row.id, this.#sourcesOf(row))
  }

  /** Returns what mutes an incident: a stored one, or one that the origin opens. */
  of(incident: Incident, by: StoredIncident | Origin): Muting {
    const isStored = 'id' in by
    const matched = isStored
      ? { rule: by.rule_name, labels: by.labels, group: by.group_values as Group }
      : { rule: by.rule.name, labels: by.rule.labels, group: by.group }
    const { severity, dedup_key } = incident
    const suppressed_by = this.#activeOnes()
      .filter(({ spec }) => isMatch(spec, { ...matched, severity, dedup_key }))
      .map(({ id }) => id)
    const id = isStored ? by.id : ''
    return { suppressed_by, inhibited_by: this.#inhibitors(incident, id) }
  }

  #inhibitors({ contributors }: Incident, id: string): string[] {
    return incidentInhibitors({ id, contributors }, this.#rules, [...this.#sources.values()].flat())
  }

  #sourcesOf(row: StoredIncident): InhibitionSource[] {
    const { id, state, rule_name: name, labels } = row
    const opener = { id, state, rule: { name, labels }, group: row.group_values as Group }
    return incidentSources(opener, coreOf(row), this.#rules)
  }

  #activeOnes() {
    this.#active ??= this.#suppressions.filter(({ spec }) => isActive(spec, this.#now_ms))
    return this.#active
  }
}

/** The stored mutes of a project. `incidents` are the unresolved ones. */
type MutingFacts = {
  suppressions: readonly { id: string; spec: Suppression }[]
  rules: readonly Rule[]
  incidents: readonly StoredIncident[]
}

/** Reads what mutes the incidents of a project. Incidents are read if a rule inhibits another. */
export async function readMuting(
  db: IncidentDb,
  { project_id, now_ms }: { project_id: string; now_ms: number },
  readUnresolved: () => Promise<readonly StoredIncident[]>,
): Promise<MutingInEffect> {
  const suppressions = await db
    .selectFrom('incident_suppressions')
    .select(['id', 'spec'])
    .where('project_id', '=', project_id)
    .orderBy('id')
    .execute()
  const rules = (await hasInhibitions(db, project_id)) ? await findLiveRules(db, project_id) : []
  const facts = {
    suppressions: suppressions.map(({ id, spec }) => ({
      id,
      spec: spec as unknown as Suppression,
    })),
    rules,
    incidents: rules.length === 0 ? [] : await readUnresolved(),
  }
  return new MutingInEffect(facts, now_ms)
}

async function hasInhibitions(db: IncidentDb, project_id: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from incident_rules where project_id = ${project_id} and not suspended
      and spec -> 'inhibited_by' <> '[]' limit 1
  `.execute(db)
  return rows.length > 0
}

async function findLiveRules(db: IncidentDb, project_id: string): Promise<Rule[]> {
  const rows = await db
    .selectFrom('incident_rules')
    .select('spec')
    .where('project_id', '=', project_id)
    .where('suspended', '=', false)
    .execute()
  return rows.map(({ spec }) => toRule(spec))
}
