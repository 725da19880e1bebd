import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import { nanoDollarsFrom } from '../../../kernel/dollars.ts'
import { objectFrom, parsedJson, textFrom } from '../../../kernel/json-values.ts'
import { hasNoContent, type Observation } from '../../../model/observation.ts'
import type { ContentState, DeclaredTool, ModelCall } from './contract.ts'

/** Facts of a call read from its row, without its position in the run. */
type CallFacts = Omit<ModelCall, 'index' | 'thread' | 'step' | 'retry_of'>

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
    nano_dollars: row.cost_usd === null ? null : nanoDollarsFrom(row.cost_usd),
    content,
    tools: readDeclaredTools(row, memo),
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
  return [{ name, schema }]
}
