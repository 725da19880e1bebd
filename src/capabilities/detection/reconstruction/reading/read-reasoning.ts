import {
  itemsOf,
  type JsonObject,
  objectFrom,
  parsedJson,
  textFrom,
} from '../../../../kernel/json-values.ts'
import type { Observation } from '../../../../model/observation.ts'

/** Maximum messages of an answer, and parts of each, that are searched for reasoning. */
const items_max = 200

/**
 * Reads the reasoning of a model's answer in any convention; '' without. Reads the first of several
 * choices.
 */
export function readReasoning({ output }: Pick<Observation, 'output'>): string {
  if (output[0] !== '[' && output[0] !== '{') return ''
  const value = parsedJson(output)
  const object = objectFrom(value)
  const choices = itemsOf(object?.['choices'] ?? object?.['candidates'])
  const list = choices.length > 0 ? [choices[0]] : itemsOf(object?.['output'] ?? value)
  const items = list.length > 0 ? list : [value]
  return items.slice(0, items_max).flatMap(readItem).join('\n\n')
}

function readItem(item: unknown): string[] {
  const whole = objectFrom(item)
  if (whole === undefined) return []
  const message = objectFrom(whole['message']) ?? whole
  if (isReasoning(message)) return readThought(message)
  const said = textFrom(message['reasoning_content']) || textFrom(message['reasoning'])
  const content = objectFrom(message['content'])?.['parts'] ?? message['content']
  const parts = itemsOf(message['parts'] ?? content).slice(0, items_max)
  const thoughts = parts.flatMap((part) => {
    const object = objectFrom(part)
    return object !== undefined && isReasoning(object) ? readThought(object) : []
  })
  // Some instrumentations give the same reasoning as a field and as a part.
  return said === '' ? thoughts : [said]
}

const thoughtTypes: ReadonlySet<unknown> = new Set(['reasoning', 'thinking', 'thought'])

function isReasoning(part: JsonObject): boolean {
  if (part['role'] !== undefined) return false
  return thoughtTypes.has(part['type']) || part['thought'] === true || 'reasoningContent' in part
}

/** Reads the texts of a thought: its own, those of its summary, or those that Bedrock wraps. */
function readThought(part: JsonObject): string[] {
  const wrapped = objectFrom(part['reasoningContent'])
  const inner = wrapped === undefined ? part : (objectFrom(wrapped['reasoningText']) ?? wrapped)
  const own = textFrom(inner['thinking']) || textFrom(inner['text']) || textFrom(inner['content'])
  if (own !== '') return [own]
  const pieces = itemsOf(part['summary'] ?? part['content']).slice(0, items_max)
  return pieces.flatMap((piece) => textFrom(objectFrom(piece)?.['text']) || [])
}
