import { expect, test } from 'vitest'
import { isContentAttribute } from '../../../model/content-attributes.ts'
import { currentContract } from '../../edge/otlp/index.ts'

const { span_level, trace_level } = currentContract
const { input, output, tool_calls, tool_results, error_message } = span_level.fields
const { trace_input, trace_output } = trace_level.fields

/** Every attribute that the OTLP mapping reads content or messages of errors from. */
const mappedKeys = [
  ...[input, output, tool_calls, tool_results, error_message, trace_input, trace_output]
    .flatMap(({ sources }) => sources)
    .flatMap((source) => {
      if (source.from === 'attribute') return [source.key]
      if (source.from === 'attributes') return source.keys
      if (source.from === 'event' && source.key !== '') return [source.key]
      return source.from === 'indexed' ? [`${source.key}.0.content`] : []
    }),
  ...span_level.content_prefixes,
]

test('what the OTLP mapping reads as content is content', () => {
  expect(mappedKeys.length).toBeGreaterThan(60)
  expect(mappedKeys.filter((key) => !isContentAttribute(key))).toEqual([])
})

test.each(['system_prompt', 'gen_ai.agent.input', 'tool.result'])(
  '%s, which Strands Agents sets, is content',
  (key) => {
    expect(isContentAttribute(key)).toBe(true)
  },
)

test.each([
  'gen_ai.request.model',
  'gen_ai.usage.input_tokens',
  'gen_ai.tool.name',
  'gen_ai.tool.call.id',
  'error.type',
  'exception.type',
  'http.request.method',
  'w3c.traceparent',
  'otel.status_code',
  'request.temperature',
])('%s is not content', (key) => {
  expect(isContentAttribute(key)).toBe(false)
})
