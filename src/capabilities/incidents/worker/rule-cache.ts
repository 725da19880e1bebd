import { sql } from '../../../platform/relational/index.ts'
import type { IncidentDb } from '../ports.ts'
import type { Rule } from '../rules/rule.ts'
import { toRule } from '../store/rule-rows.ts'

type Versioned = { version: number; rule: Rule }

/** The rules that this process evaluates, in their newest versions. Each version is read once. */
export class RuleCache {
  readonly #db: IncidentDb
  #known = new Map<string, Versioned>()

  constructor(db: IncidentDb) {
    this.#db = db
  }

  /** Returns these versions of rules by id, and forgets all other rules. */
  async load(
    wanted: readonly { id: string; version: number }[],
  ): Promise<ReadonlyMap<string, Rule>> {
    const missing = wanted.filter(({ id, version }) => this.#known.get(id)?.version !== version)
    const fresh = new Map<string, Versioned>()
    if (missing.length > 0) {
      const rows = await this.#db
        .selectFrom('incident_rules')
        .select(['id', 'version', 'spec'])
        .where(sql<boolean>`id = any(${missing.map(({ id }) => id)}::uuid[])`)
        .execute()
      for (const { id, version, spec } of rows) fresh.set(id, { version, rule: toRule(spec) })
    }
    const next = new Map<string, Versioned>()
    for (const { id, version } of wanted) {
      const one = fresh.get(id) ?? this.#known.get(id)
      if (one?.version === version) next.set(id, one)
    }
    this.#known = next
    return new Map([...next].map(([id, { rule }]) => [id, rule]))
  }
}
