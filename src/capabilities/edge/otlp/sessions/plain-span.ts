import type { OtlpSpan } from '../contract.ts'
import { emptyAttributes } from '../decode/items.ts'
import { loggedAgentOf } from './coding-agents.ts'

/** Keys that say what kind of call a span is, and what it used. */
const callKeys = /^gen_ai\.(?:operation\.name$|tool\.(?:name|call)|usage\.|(?:request|response)\.)/
/** A text about the tool. Its presence alone would make the span a tool. */
const toolDescription = 'gen_ai.tool.description'

/**
 * Returns a span of an agent whose log records hold its calls as a plain span, so that each call
 * counts once: attributes of the call get the prefix `span.`. Returns any other span unchanged.
 */
export function withoutLoggedCall(span: OtlpSpan, scope: string): OtlpSpan {
  if (loggedAgentOf(scope) === undefined) return span
  const attributes = emptyAttributes()
  const { keys, values } = span.attributes
  for (const [at, key] of keys.entries()) {
    if (key === toolDescription) continue
    attributes.keys.push(callKeys.test(key) ? `span.${key}` : key)
    attributes.values.push(values[at] ?? null)
  }
  return { ...span, attributes }
}
