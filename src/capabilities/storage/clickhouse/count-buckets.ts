import type { BucketCount, CountQuery } from '../retention-contract.ts'
import { countedBuckets_max } from '../retention-contract.ts'
import { bytesIn, type RowChanges, secondsOf } from './change-rows.ts'
import type { Condition } from './conditions.ts'
import { day_s, dayOf, environmentOf, inSlice, retainedTables } from './retention-conditions.ts'
import type { Read } from './store-failure.ts'

type Row = Record<'day' | 'env' | 'going' | 'free' | 'held', string>

/** Counts the rows of a slice by day and environment: what goes, what is held, what came late. */
export async function countBuckets(
  read: Read,
  changes: RowChanges,
  asked: CountQuery,
): Promise<BucketCount[]> {
  const { kind, held_trace_ids, ...slice } = asked.slice
  const { identity } = retainedTables[kind]
  const environment = environmentOf(kind, asked.environments)
  const within = inSlice({ kind, ...slice })
  const free = notHeld(held_trace_ids)
  const early = beforeBound(kind, asked.bounds)
  const records = (condition: string) => `uniqExactIf((${identity}), ${condition})`
  const going = records(`${free.sql} AND ${early.sql}`)
  const rows = await read<Row>(
    `SELECT toString(${dayOf(kind)}) AS day, ${environment.sql} AS env,
       ${going} AS going,
       ${asked.bounds.length === 0 ? 'going' : records(free.sql)} AS free,
       ${held_trace_ids.length === 0 ? '0' : records(`NOT (${free.sql})`)} AS held
     FROM ${kind} WHERE ${within.sql}
     GROUP BY day, env ORDER BY toInt64(day), env LIMIT ${countedBuckets_max}`,
    { ...within.params, ...environment.params, ...free.params, ...early.params },
  )
  const parts = rows.length === 0 ? [] : await changes.parts(secondsOf(asked.slice))
  return rows.map(({ day, env, going, free: unheld, held }) => {
    const window = { from: Number(day) * day_s, to: (Number(day) + 1) * day_s }
    return {
      ...{ day: Number(day), environment: env, rows: Number(going) },
      bytes: bytesIn(Number(going), parts, window),
      held_rows: Number(held),
      late_rows: Math.max(0, Number(unheld) - Number(going)),
    }
  })
}

function notHeld(held: readonly string[]): Condition {
  if (held.length === 0) return { sql: 'true', params: {} }
  return { sql: 'trace_id NOT IN {held:Array(UUID)}', params: { held } }
}

/** Days without a bound have one that no row reaches. */
const never_ms = 2n ** 62n

function beforeBound(kind: CountQuery['slice']['kind'], bounds: CountQuery['bounds']): Condition {
  if (bounds.length === 0) return { sql: 'true', params: {} }
  return {
    sql: `toUnixTimestamp64Milli(ingested_at) < transform(toInt64(${dayOf(kind)}),
         {bound_days:Array(Int64)}, {bounds:Array(Int64)}, toInt64(${never_ms}))`,
    params: {
      bound_days: bounds.map(({ day }) => BigInt(day)),
      bounds: bounds.map(({ stored_before_ms }) => BigInt(stored_before_ms)),
    },
  }
}
