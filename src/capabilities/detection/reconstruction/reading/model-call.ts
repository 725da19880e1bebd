import { BoundedCache } from '../../../../kernel/bounded-cache.ts'
import { nanoDollarsFrom } from '../../../../kernel/dollars.ts'
import { objectFrom, parsedJson, textFrom } from '../../../../kernel/json-values.ts'
import { hasNoContent, type Observation } from '../../../../model/observation.ts'
import {
  type CallTokens,
  type ContentState,
  type DeclaredTool,
  description_chars_max,
  type ModelCall,
} from '../contract.ts'

/** Facts of a call read from its row, without its position in the run. */
type CallFacts = Omit<
  ModelCall,
  'index' | 'thread' | 'step' | 'retry_of' | 'history_messages' | 'is_only_new'
>

/** Reads the facts of a row; `memo` caches declared tools. */
export function readCallFacts(
  row: Observation,
  content: ContentState,
  memo: DeclaredMemo,
): CallFacts {
  return {
    trace_id: row.trace_id,
    observation_id: row.observation_id,
    start_time: row.start_time,
    end_time: getEndTime(row),
    provider: row.provider,
    model: row.model || row.model_requested,
    status: row.status,
    status_code: row.status_code,
    outcome: row.outcome,
    error_type: row.error_type,
    error_message: row.error_message,
    finish_reason: row.finish_reason,
    streamed: row.streamed,
    input_tokens: addKnown(
      row.input_uncached_tokens,
      row.cache_read_tokens,
      row.cache_write_tokens,
    ),
    output_tokens: addKnown(row.output_visible_tokens, row.reasoning_tokens),
    tokens: tokensOf(row),
    nano_dollars: row.cost_usd === null ? null : nanoDollarsFrom(row.cost_usd),
    time_to_first_token_ms: row.time_to_first_token_ms,
    content,
    content_state: row.content_state,
    tools: readDeclaredTools(row, memo),
  }
}

function tokensOf(row: CallTokens): CallTokens {
  return {
    input_uncached_tokens: row.input_uncached_tokens,
    cache_read_tokens: row.cache_read_tokens,
    cache_write_tokens: row.cache_write_tokens,
    output_visible_tokens: row.output_visible_tokens,
    reasoning_tokens: row.reasoning_tokens,
    usage_source: row.usage_source,
  }
}

/** Returns a call with the facts that only a second report has. */
export function mergeFacts(call: ModelCall, facts: CallFacts): ModelCall {
  return {
    ...call,
    status: call.status === 'ok' ? facts.status : call.status,
    status_code: call.status_code || facts.status_code,
    outcome: call.outcome || facts.outcome,
    error_type: call.error_type || facts.error_type,
    error_message: call.error_message || facts.error_message,
    finish_reason: call.finish_reason || facts.finish_reason,
    provider: call.provider || facts.provider,
    model: call.model || facts.model,
    tools: call.tools ?? facts.tools,
    ...mergeMeasures(call, facts),
  }
}

/** Returns the measures of a call, else those of the second report. */
function mergeMeasures(call: ModelCall, facts: CallFacts): Partial<ModelCall> {
  return {
    input_tokens: call.input_tokens ?? facts.input_tokens,
    output_tokens: call.output_tokens ?? facts.output_tokens,
    tokens: call.tokens.usage_source === 'none' ? facts.tokens : call.tokens,
    nano_dollars: call.nano_dollars ?? facts.nano_dollars,
    time_to_first_token_ms: call.time_to_first_token_ms ?? facts.time_to_first_token_ms,
  }
}

/** Returns the end; a span that ends before it starts took no time. */
export function getEndTime({ start_time, end_time }: Observation): bigint {
  return end_time > start_time ? end_time : start_time
}

/** Adds the known counts; null if all are unknown. */
function addKnown(...counts: readonly (number | null)[]): number | null {
  let sum: number | null = null
  for (const count of counts) if (count !== null) sum = (sum ?? 0) + count
  return sum
}

/** Full if both the history and the answer are available, where the call has both. */
export function getContentState(row: Observation, hasHistory: boolean): ContentState {
  const { content_state, output, status } = row
  if (hasNoContent(row)) return 'none'
  if (!hasHistory && output === '') return 'none'
  const isAnswered = output !== '' || status !== 'ok' || row.source === 'proxy'
  return content_state === 'full' && hasHistory && isAnswered ? 'full' : 'partial'
}

const attributeKeys = ['request.tools', 'request.functions', 'gen_ai.tool.definitions'] as const

/** Declared tools by their JSON text, because all requests of an agent declare the same tools. */
export type DeclaredMemo = BoundedCache<string, readonly DeclaredTool[] | undefined>

const memo_max = 16

/** Creates the memo of one run. */
export function createDeclaredMemo(): DeclaredMemo {
  return new BoundedCache(memo_max)
}

/**
 * Returns the tools that a request declared; undefined if it did not list them or its text was cut.
 */
function readDeclaredTools(
  row: Observation,
  memo: DeclaredMemo,
): readonly DeclaredTool[] | undefined {
  for (const key of attributeKeys) {
    const text = row.attributes[key]
    if (text === undefined || text === '') continue
    if (!memo.has(text)) memo.set(text, readTools(text))
    return memo.get(text)
  }
  return row.source === 'proxy' && row.content_state === 'full' ? noTools : undefined
}

const noTools: readonly DeclaredTool[] = []
const tools_max = 512

function readTools(text: string): readonly DeclaredTool[] | undefined {
  const list = parsedJson(text)
  return Array.isArray(list) ? list.slice(0, tools_max).flatMap(readTool) : undefined
}

function readTool(item: unknown): DeclaredTool[] {
  const object = objectFrom(item)
  const tool = objectFrom(object?.['function']) ?? object
  const name = textFrom(tool?.['name'])
  if (tool === undefined || name === '') return []
  const schema = objectFrom(tool['parameters'] ?? tool['input_schema'] ?? tool['inputSchema'])
  const description = textFrom(tool['description']).slice(0, description_chars_max)
  return [{ name, description, schema }]
}
