import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import { objectFrom, parsedJson, textFrom } from '../../../kernel/json-values.ts'
import type { Observation } from '../../../model/observation.ts'
import type { DeclaredTool } from './contract.ts'

const keys = ['request.tools', 'request.functions', 'gen_ai.tool.definitions'] as const

/** What was read before, by its text: the requests of one agent declare the same. */
export type DeclaredMemo = BoundedCache<string, readonly DeclaredTool[] | undefined>

const memo_max = 16

/** Makes the memo of one run. */
export function createDeclaredMemo(): DeclaredMemo {
  return new BoundedCache(memo_max)
}

/**
 * The tools that a request declared; undefined when it does not tell, or its text was cut: then
 * nobody can say which tools there were.
 */
export function declaredTools(
  row: Observation,
  memo: DeclaredMemo,
): readonly DeclaredTool[] | undefined {
  for (const key of keys) {
    const text = row.attributes[key]
    if (text === undefined || text === '') continue
    if (!memo.has(text)) memo.set(text, toolsIn(text))
    return memo.get(text)
  }
  return row.source === 'proxy' && row.content_state === 'full' ? none : undefined
}

const none: readonly DeclaredTool[] = []
const tools_max = 512

function toolsIn(text: string): readonly DeclaredTool[] | undefined {
  const list = parsedJson(text)
  return Array.isArray(list) ? list.slice(0, tools_max).flatMap(toolIn) : undefined
}

function toolIn(item: unknown): DeclaredTool[] {
  const object = objectFrom(item)
  const tool = objectFrom(object?.['function']) ?? object
  const name = textFrom(tool?.['name'])
  if (tool === undefined || name === '') return []
  const schema = objectFrom(tool['parameters'] ?? tool['input_schema'] ?? tool['inputSchema'])
  return [{ name, schema }]
}
