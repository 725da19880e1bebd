import type { z } from 'zod'
import { parsedJson, textFrom } from '../../kernel/json-values.ts'

/**
 * Reads the JSON that a chat model answered, also between the marks of a Markdown block. Returns
 * undefined when it does not have the form of the schema. Unknown fields are dropped.
 */
export function readAnswer<T>(reply: Record<string, unknown>, schema: z.ZodType<T>): T | undefined {
  const text = textFrom(reply['content']).trim()
  const block = /^```(?:json)?\s*\n([\s\S]*)\n```$/.exec(text)?.[1]
  return schema.safeParse(parsedJson(block ?? text)).data
}
