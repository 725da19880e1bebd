import { nanoDollarsFrom } from '../../../kernel/dollars.ts'
import type { Observation } from '../../../model/observation.ts'
import type { ContentState, ModelCall } from './contract.ts'
import { type DeclaredMemo, declaredTools } from './declared-tools.ts'

/** What a row tells of a call, apart from its place in the run. */
export type ToldCallFacts = Omit<ModelCall, 'index' | 'thread' | 'step' | 'retry_of'>

/** The facts of a row; `memo` holds the tools that were declared before. */
export function callFactsOf(
  row: Observation,
  content: ContentState,
  memo: DeclaredMemo,
): ToldCallFacts {
  return {
    trace_id: row.trace_id,
    observation_id: row.observation_id,
    start_time: row.start_time,
    end_time: endOf(row),
    provider: row.provider,
    model: row.model || row.model_requested,
    status: row.status,
    status_code: row.status_code,
    outcome: row.outcome,
    error_type: row.error_type,
    error_message: row.error_message,
    finish_reason: row.finish_reason,
    streamed: row.streamed,
    input_tokens: sumOf(row.input_uncached_tokens, row.cache_read_tokens, row.cache_write_tokens),
    output_tokens: sumOf(row.output_visible_tokens, row.reasoning_tokens),
    nano_dollars: row.cost_usd === null ? null : nanoDollarsFrom(row.cost_usd),
    content,
    tools: declaredTools(row, memo),
  }
}

/** A span that ends before it starts took no time. */
export function endOf({ start_time, end_time }: Observation): bigint {
  return end_time > start_time ? end_time : start_time
}

/** null when nobody knows any of them. */
function sumOf(...counts: readonly (number | null)[]): number | null {
  let sum: number | null = null
  for (const count of counts) if (count !== null) sum = (sum ?? 0) + count
  return sum
}

/** Full when both sides are told, as far as there are two. */
export function contentOf(row: Observation, hasHistory: boolean): ContentState {
  const { content_state, output, status } = row
  if (content_state === 'dropped' || content_state === 'expired') return 'none'
  if (!hasHistory && output === '') return 'none'
  const isAnswered = output !== '' || status !== 'ok' || row.source === 'proxy'
  return content_state === 'full' && hasHistory && isAnswered ? 'full' : 'partial'
}
