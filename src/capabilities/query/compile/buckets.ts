import type { Bucket, BucketRun } from '../language/buckets.ts'
import { type Entity, referenceTo } from '../language/field.ts'
import type { Scope } from './conditions.ts'
import type { Expression } from './dialect.ts'

/**
 * Compiles the start of a record's bucket, in nanoseconds; weeks count from a Monday in 1969. The
 * runs of a zone are computed here and not by the stores, whose time zone databases may differ.
 */
export function bucketStart(
  { width_ns, offset_ns, zone }: Bucket,
  entity: Entity,
  { dialect, params, expression }: Scope,
): Expression {
  const time = dialect.nanoseconds(expression(referenceTo(entity, entity.time)).sql)
  const floor = (width: bigint, offset: bigint) =>
    dialect.floor(time, {
      ...{ width: dialect.integer(params, width), offset: dialect.integer(params, offset) },
    })
  const sql =
    zone === undefined
      ? floor(width_ns, offset_ns)
      : byRun(zone.runs, { time, dialect, params }, (run) => floor(run.width_ns, run.from))
  return { sql, type: 'integer' }
}

/** Compiles the end of the bucket that begins at `start`, in nanoseconds. */
export function bucketEnd(
  { width_ns, zone }: Bucket,
  start: string,
  { dialect, params }: Scope,
): string {
  const after = (width: bigint) => `${start} + ${dialect.integer(params, width)}`
  if (zone === undefined) return after(width_ns)
  return byRun(zone.runs, { time: start, dialect, params }, (run) => after(run.width_ns))
}

/** Compiles the choice of the last run that begins at a time or before. */
function byRun(
  runs: readonly BucketRun[],
  { time, dialect, params }: Pick<Scope, 'dialect' | 'params'> & { time: string },
  compile: (run: BucketRun) => string,
): string {
  const [first, ...later] = runs
  if (first === undefined) throw new RangeError('a window has at least one bucket')
  const choices = later
    .toReversed()
    .map((run) => `WHEN ${time} >= ${dialect.integer(params, run.from)} THEN ${compile(run)}`)
  if (choices.length === 0) return compile(first)
  return `(CASE ${choices.join(' ')} ELSE ${compile(first)} END)`
}
