import type { MappingContract, ValueTable } from './contract-shape.ts'
import { phase9OtlpV1x3 } from './phase9-otlp-v1-3.ts'
import { attributes, rule } from './sources.ts'

const earlier = phase9OtlpV1x3

/** LiteLLM reports the name of the function that the caller used, also for calls that failed. */
const liteLlmCalls = {
  completion: 'generation',
  acompletion: 'generation',
  atext_completion: 'generation',
  responses: 'generation',
  aresponses: 'generation',
  anthropic_messages: 'generation',
  agenerate_content: 'generation',
  agenerate_content_stream: 'generation',
  generate_content_stream: 'generation',
  aembedding: 'embedding',
  arerank: 'retriever',
} as const

function withLiteLlmCalls(name: 'operation_names' | 'llm_request_types'): ValueTable {
  return { ...earlier.tables[name], values: { ...earlier.tables[name]?.values, ...liteLlmCalls } }
}

/**
 * phase9-otlp-v1.3 with the words of LiteLLM for calls, and the name of Langfuse's trace as the name of
 * its task. Rows refer to this contract, so the meaning of a source never changes: add a version
 * instead.
 */
export const phase9OtlpV1x4: MappingContract = {
  ...earlier,
  version: 'phase9-otlp-v1.4',
  trace_level: {
    fields: {
      ...earlier.trace_level.fields,
      task_name: rule(
        'text',
        [...earlier.trace_level.fields.task_name.sources],
        attributes('langfuse.trace.name'),
      ),
    },
  },
  tables: {
    ...earlier.tables,
    operation_names: withLiteLlmCalls('operation_names'),
    llm_request_types: withLiteLlmCalls('llm_request_types'),
  },
}
