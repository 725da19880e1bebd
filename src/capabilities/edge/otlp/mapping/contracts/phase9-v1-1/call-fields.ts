import { callFields as first } from '../phase9/call-fields.ts'
import { attribute, rule } from '../sources.ts'

/** As in the first contract, but for a span that only looks like a tool. */
export const callFields: typeof first = {
  ...first,
  type: rule(
    'text',
    // Google ADK repeats the results of tools that ran side by side in a span of this name.
    attribute('gen_ai.tool.name', { only: ['(merged tools)'], gives: 'span', silent: true }),
    [...first.type.sources],
  ),
}
