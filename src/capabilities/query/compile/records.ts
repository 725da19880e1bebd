import type { Query, QueryWindow } from '../language/check-query.ts'
import type { Entity } from '../language/field.ts'
import type { Filter, Test } from '../language/filter.ts'
import type { Reference } from '../language/reference.ts'
import { computedRowsOf } from './computed-rows.ts'
import { conditionOf, conjunctsOf, referencesOf, type Scope } from './conditions.ts'
import { columnsWithRestored, restoredIn } from './restored-rows.ts'
import {
  columnScope,
  type Frame,
  type RowsRequest,
  rowsOf,
  sourceOf,
  windowConditions,
} from './rows.ts'

export type { Frame }

/** A subquery with each record once; see `rowsOf` and `computedRowsOf`. */
export function recordsOf(frame: Frame, request: RowsRequest): { text: string; scope: Scope } {
  return frame.entity.computed ? computedRowsOf(frame, request) : rowsOf(frame, request)
}

/**
 * Conditions on what no later version of a record can change narrow what is read. All others are
 * asked of the latest version only: an older one that would match must not stand in for it.
 */
export function splitFilter({ entity, where }: Pick<Query, 'entity' | 'where'>) {
  const conjuncts = conjunctsOf(where)
  const never = (filter: Filter) => referencesOf(filter).every((each) => inIdentity(entity, each))
  return {
    inside: conjuncts.filter(never),
    late: conjuncts.filter((filter) => !never(filter)),
  }
}

function inIdentity({ identity }: Entity, { name, map_key }: Reference): boolean {
  return map_key === undefined && identity.includes(name)
}

/** The text of conditions on latest versions. */
export function lateText(late: readonly Filter[], scope: Scope): string[] {
  return late.map((filter) => conditionOf(filter, scope))
}

/** The window as conditions on the latest version, for records whose time may change. */
export function exactWindow({ entity }: Frame, window: QueryWindow): readonly Filter[] {
  const field = entity.fields[entity.time]
  if (!entity.time_moves || entity.computed || field === undefined) return []
  const reference: Reference = { name: entity.time, field }
  return [
    { kind: 'test', reference, op: 'gte', value: window.from },
    { kind: 'test', reference, op: 'lt', value: window.to },
  ]
}

/**
 * Conditions that spare reading most of a table: records of which any version meets a condition on
 * an indexed column. The latest version is asked again, so the answer is the same without them.
 */
export function narrowingOf(frame: Frame, late: readonly Filter[]): string[] {
  const { entity, dialect, params } = frame
  const source = sourceOf(entity, dialect)
  if (entity.computed || !source.versioned) return []
  const identity = entity.identity.join(', ')
  return late.filter(isLookUp).map((filter) => {
    const where = [
      `project_id = ${dialect.project(params, frame.project_id)}`,
      ...windowConditions(frame),
      conditionOf(filter, columnScope(frame)),
    ]
    const { table } = source
    const restored = restoredIn(frame, source.restored)
    return `(${identity}) ${dialect.in_subquery} (
      ${columnsWithRestored({ columns: identity, table, restored, where })}
    )`
  })
}

function isLookUp(filter: Filter): filter is Test {
  if (filter.kind !== 'test' || (filter.op !== 'eq' && filter.op !== 'in')) return false
  return filter.reference.field.indexed === true && filter.reference.map_key === undefined
}
