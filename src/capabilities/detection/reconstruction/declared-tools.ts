import type { Observation } from '../../../model/observation.ts'
import type { DeclaredTool } from './contract.ts'
import { itemsOf, objectFrom, parsedJson, textFrom } from './json-values.ts'

const keys = ['request.tools', 'request.functions', 'gen_ai.tool.definitions'] as const

/**
 * The tools that a request declared; undefined when it does not tell, or its text was cut: then
 * nobody can say which tools there were.
 */
export function declaredTools(row: Observation): readonly DeclaredTool[] | undefined {
  for (const key of keys) {
    const text = row.attributes[key]
    if (text !== undefined && text !== '') return toolsIn(text)
  }
  return row.source === 'proxy' && row.content_state === 'full' ? none : undefined
}

const none: readonly DeclaredTool[] = []
const tools_max = 512

/** Requests of one agent declare the same; the last texts are remembered. */
const known = new Map<string, readonly DeclaredTool[] | undefined>()
const known_max = 64

function toolsIn(text: string): readonly DeclaredTool[] | undefined {
  if (known.has(text)) return known.get(text)
  const list = parsedJson(text)
  const tools = Array.isArray(list) ? list.slice(0, tools_max).flatMap(toolIn) : undefined
  const oldest = known.keys().next()
  if (known.size >= known_max && !oldest.done) known.delete(oldest.value)
  known.set(text, tools)
  return tools
}

function toolIn(item: unknown): DeclaredTool[] {
  const object = objectFrom(item)
  const tool = objectFrom(object?.['function']) ?? object
  const name = textFrom(tool?.['name'])
  if (tool === undefined || name === '') return []
  const schema = objectFrom(tool['parameters'] ?? tool['input_schema'] ?? tool['inputSchema'])
  return [{ name, schema }]
}
