import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { IncidentDb } from '../ports.ts'
import type { Rule } from '../rules/rule.ts'
import { toRule } from '../store/rule-rows.ts'

/** The rules that a worker evaluated last, by version, up to a limit. Each is read once. */
export class RuleCache {
  readonly #db: IncidentDb
  readonly #known: BoundedCache<string, { version: number; rule: Rule }>

  constructor(db: IncidentDb, rules_max: number) {
    this.#db = db
    this.#known = new BoundedCache(rules_max)
  }

  /** Rules in memory. */
  get size(): number {
    return this.#known.size
  }

  /** Returns these versions of rules by id. A version that was replaced meanwhile is missing. */
  async load(
    wanted: readonly { id: string; version: number }[],
  ): Promise<ReadonlyMap<string, Rule>> {
    const found = new Map<string, Rule>()
    const missing = new Map<string, number>()
    for (const { id, version } of wanted) {
      const known = this.#known.get(id)
      if (known?.version === version) found.set(id, known.rule)
      else missing.set(id, version)
    }
    if (missing.size === 0) return found
    const rows = await this.#db
      .selectFrom('incident_rules')
      .select(['id', 'version', 'spec'])
      .where(sql<boolean>`id = any(${[...missing.keys()]}::uuid[])`)
      .execute()
    for (const { id, version, spec } of rows) {
      if (missing.get(id) !== version) continue
      const rule = toRule(spec)
      this.#known.set(id, { version, rule })
      found.set(id, rule)
    }
    return found
  }
}
