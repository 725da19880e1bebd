import { dollars_max } from '../../../kernel/dollars.ts'
import type { CallSums } from '../../storage/index.ts'

/** Largest count of a roll-up: JSON and PostgreSQL hold it exactly. */
const count_max = Number.MAX_SAFE_INTEGER

/** Counts of tokens of a roll-up. */
export const tokenSums = [
  'input_uncached_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_visible_tokens',
  'reasoning_tokens',
  'total_tokens',
] as const

/** The columns of a task that add up over its calls. */
export const taskSums = [
  'calls',
  'merged_calls',
  'errors',
  'cancelled',
  ...tokenSums,
  'estimated_calls',
  'cost_usd',
  'unpriced_calls',
  'partially_priced_calls',
] as const

/**
 * Returns the roll-up with tokens and cost up to their largest values. Senders choose the values of
 * observations, and a sum that a column cannot hold would fail the whole batch.
 */
export function saturate<
  T extends Partial<Pick<CallSums, (typeof tokenSums)[number] | 'cost_usd'>>,
>(rollup: T): T {
  const tokens = tokenSums.flatMap((name) => {
    const value = rollup[name]
    return value === undefined || value <= count_max ? [] : [[name, count_max]]
  })
  const isOver = Number(rollup.cost_usd ?? 0) > dollars_max
  if (tokens.length === 0 && !isOver) return rollup
  return {
    ...rollup,
    ...Object.fromEntries(tokens),
    ...(isOver && { cost_usd: String(dollars_max) }),
  }
}

/** Returns SQL that adds a column of `excluded` to that of `tasks`, up to the largest value. */
export function saturatingSum(column: string): string {
  const sum = `tasks.${column} + excluded.${column}`
  if (column === 'cost_usd') return `${column} = least(${sum}, ${dollars_max})`
  const isTokens = tokenSums.some((name) => name === column)
  return isTokens ? `${column} = least(${sum}, ${count_max})` : `${column} = ${sum}`
}
