import { sleep } from '../../../kernel/time.ts'
import type { QueryParam } from '../../../platform/columnar/index.ts'
import type { Condition } from './conditions.ts'

/** Runs one statement for a condition; answers whether it changed anything. */
export type ConditionWork = (condition: Condition, signal?: AbortSignal) => Promise<boolean>

/**
 * Makes one statement of conditions that are about the same: `key` says what they share. A statement
 * that deletes costs by its number and not by its rows, so what several projects let go of one
 * partition goes at once; and a part that nobody keeps a row of is dropped whole then. Statements of
 * a key run one after the other; what is asked meanwhile is the next one's.
 */
export type SharedChanges = (
  key: string,
  asked: { condition: Condition; signal: AbortSignal | undefined; work: ConditionWork },
) => Promise<boolean>

/** How long the first condition of a key waits for others. */
const gather_ms = 50
/** Conditions of one statement, and about how many bytes of parameters: they travel in the URL. */
const conditions_max = 50
const params_bytes_max = 500_000

type Waiting = {
  condition: Condition
  work: ConditionWork
  signal: AbortSignal | undefined
  end: PromiseWithResolvers<boolean>
}

export function shareChanges(): SharedChanges {
  const queues = new Map<string, Waiting[]>()
  const workOff = async (key: string, waiting: Waiting[]) => {
    await sleep(gather_ms)
    while (waiting.length > 0) await runTogether(takeGroup(waiting))
    queues.delete(key)
  }
  return (key, { condition, signal, work }) => {
    const one = { condition, signal, work, end: Promise.withResolvers<boolean>() }
    const known = queues.get(key)
    known?.push(one)
    if (known === undefined) {
      const waiting = [one]
      queues.set(key, waiting)
      void workOff(key, waiting)
    }
    return untilAborted(one)
  }
}

/** Whoever gave up is answered at once; what the store has begun goes on. */
async function untilAborted({ end, signal }: Waiting): Promise<boolean> {
  const giveUp = () => end.reject(signal?.reason)
  if (signal?.aborted) giveUp()
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    return await end.promise
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}

/** Takes from the front what one statement can carry, without those who gave up. */
function takeGroup(waiting: Waiting[]): Waiting[] {
  const group: Waiting[] = []
  let bytes = 0
  for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
    bytes += bytesOf(next.condition)
    if (group.length > 0 && (group.length === conditions_max || bytes > params_bytes_max)) break
    waiting.shift()
    if (!next.signal?.aborted) group.push(next)
  }
  return group
}

async function runTogether(group: readonly Waiting[]): Promise<void> {
  const [first] = group
  if (first === undefined) return
  try {
    const condition = anyOf(group.map((one) => one.condition))
    const changed = await first.work(condition, signalOfAll(group))
    for (const { end } of group) end.resolve(changed)
  } catch (error) {
    for (const { end } of group) end.reject(error)
  }
}

/** Aborts when nobody waits for the statement any more. */
function signalOfAll(group: readonly Waiting[]): AbortSignal | undefined {
  const signals = group.flatMap(({ signal }) => signal ?? [])
  if (signals.length < group.length) return undefined
  const all = new AbortController()
  const check = () => {
    if (signals.every(({ aborted }) => aborted)) all.abort(signals[0]?.reason)
  }
  for (const signal of signals) signal.addEventListener('abort', check, { once: true })
  return all.signal
}

/** Joins conditions with OR; each one's parameters get names of their own. */
function anyOf(conditions: readonly Condition[]): Condition {
  const [first] = conditions
  if (conditions.length === 1 && first !== undefined) return first
  const params: Record<string, QueryParam> = {}
  const sql = conditions.map((condition, at) => {
    for (const [name, value] of Object.entries(condition.params)) params[`c${at}_${name}`] = value
    return `(${condition.sql.replace(/\{(\w+):/g, `{c${at}_$1:`)})`
  })
  return { sql: sql.join(' OR '), params }
}

function bytesOf({ params }: Condition): number {
  return Object.values(params).reduce<number>((bytes, value) => bytes + bytesOfValue(value), 0)
}

/** With the signs around a value, as a URL writes them. */
function bytesOfValue(value: QueryParam): number {
  if (typeof value === 'string') return 3 * value.length
  if (Array.isArray(value)) {
    return value.reduce<number>((bytes, one) => bytes + 9 + 3 * String(one).length, 0)
  }
  return 30
}
