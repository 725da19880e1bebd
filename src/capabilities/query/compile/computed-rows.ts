import type { Entity, Field } from '../language/field.ts'
import type { Reference } from '../language/reference.ts'
import type { Scope } from './conditions.ts'
import { columnsWithRestored, restoredIn } from './restored-rows.ts'
import { baseOf, expressionOf, type Frame, type RowsRequest, rowsOf, sourceOf } from './rows.ts'

const margin_ns = 86_400_000_000_000n

/**
 * A subquery with one row for each group of another entity's records that began in the window.
 * Records up to a day outside of the window count too, or a trace at its edge would be cut.
 */
export function computedRowsOf(frame: Frame, request: RowsRequest): { text: string; scope: Scope } {
  const { entity } = frame
  const references = uniqueOf(request.references)
  const fields = references.filter(({ map_key }) => map_key === undefined).map(({ field }) => field)
  const grouped = groupsOf(frame, { ...request, references }, fields)
  const scope = scopeOf(frame, references)
  const recorded = references.filter(fromRecord(entity))
  if (recorded.length === 0) return { text: grouped, scope }
  const plain = references.filter((reference) => !recorded.includes(reference))
  const list = [
    ...plain.map(({ field }) => `g.${field.name} AS ${field.name}`),
    ...recorded.map((reference) => recordedColumn(reference, scope)),
  ]
  const text = `SELECT ${list.join(', ')}
  FROM (${grouped}) AS g
  LEFT JOIN (${recordRows(frame, recorded)}) AS r ON r.trace_id = g.trace_id`
  return { text, scope }
}

function uniqueOf(references: readonly Reference[]): Reference[] {
  return [...new Map(references.map((reference) => [reference.name, reference])).values()]
}

function fromRecord(entity: Entity) {
  return ({ field }: Reference) => field.recorded === true || entity.maps.includes(field.name)
}

function groupsOf(frame: Frame, request: RowsRequest, fields: Field[]) {
  const { entity, window, dialect, params } = frame
  const base = baseOf(entity)
  if (base === undefined) throw new RangeError(`${entity.name} are not computed`)
  const wanted = fields.filter(({ grouped }) => grouped)
  const reads = new Set(['trace_id', 'start_time', ...wanted.flatMap(readsOf)])
  const rows = rowsOf(
    {
      ...frame,
      entity: base,
      window: { from: window.from - margin_ns, to: window.to + margin_ns },
    },
    { ...request, references: [...reads].map((name) => referenceTo(base, name)), whole: true },
  )
  const list = wanted
    .filter(({ name }) => name !== 'trace_id')
    .map(({ name, grouped }) => `, ${grouped?.sql[dialect.store]} AS ${name}`)
  const from = dialect.value(params, 'time', window.from)
  const to = dialect.value(params, 'time', window.to)
  return `SELECT o.trace_id AS trace_id${list.join('')}
  FROM (${rows.text}) AS o
  GROUP BY o.trace_id
  HAVING min(o.start_time) >= ${from} AND min(o.start_time) < ${to}`
}

function readsOf({ grouped }: Field): readonly string[] {
  return grouped?.reads ?? []
}

function referenceTo(entity: Entity, name: string): Reference {
  const field = entity.fields[name]
  if (field === undefined) throw new RangeError(`${entity.name} have no ${name}`)
  return { name, field }
}

/** The latest record of each trace; its time is what the client said, so whole months are read. */
function recordRows(frame: Frame, recorded: readonly Reference[]): string {
  const { dialect, params, entity, window } = frame
  const columns = new Set(['trace_id', ...recorded.map(({ field }) => field.name)])
  const around = { from: window.from - margin_ns, to: window.to + margin_ns }
  const source = sourceOf(entity, dialect)
  const table = String(source.record_table)
  const where = [
    `project_id = ${dialect.project(params, frame.project_id)}`,
    ...dialect.months(params, 'time', around),
  ]
  const restored = restoredIn(frame, source.restored_records)
  const rows = { columns: [...columns].join(', '), by: 'trace_id' }
  if (restored === undefined) return dialect.latestRows({ ...rows, table, where })
  const versioned = [...columns, 'ingested_at', 'message_id'].join(', ')
  const both = columnsWithRestored({ columns: versioned, table, restored, where })
  return dialect.latestRows({ ...rows, table: `(${both}) AS recorded`, where: ['1 = 1'] })
}

/** The record's word, or where it has none that of the observations. */
function recordedColumn({ field, map_key, name }: Reference, scope: Scope): string {
  const alias = scope.expression({ name, field }).sql
  if (map_key !== undefined) {
    const key = scope.dialect.value(scope.params, 'text', map_key)
    const text = scope.dialect.mapText(`r.${field.name}`, key)
    return `${field.type === 'float' ? scope.dialect.numberFrom(text) : text} AS ${alias}`
  }
  if (!field.recorded) return `${scope.dialect.wholeMap(`r.${field.name}`)} AS ${alias}`
  const known = scope.dialect.firstKnown(`r.${field.name}`, `g.${field.name}`)
  return `${known} AS ${alias}`
}

function scopeOf({ dialect, params }: Frame, references: readonly Reference[]): Scope {
  const names = references.map(({ name }) => name)
  return {
    dialect,
    params,
    expression: ({ name, field }) =>
      expressionOf(field, name === field.name ? name : `m${names.indexOf(name)}`),
  }
}
