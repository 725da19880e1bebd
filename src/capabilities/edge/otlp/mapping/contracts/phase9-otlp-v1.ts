import type { MappingContract } from './contract-shape.ts'
import { callFields, traceFields } from './phase9/call-fields.ts'
import { contentFields } from './phase9/content-fields.ts'
import { endingFields } from './phase9/ending-fields.ts'
import { usageDetailFields, usageFields } from './phase9/usage-fields.ts'
import { valueTables } from './phase9/value-tables.ts'

/**
 * The first contract. Rows refer to it, so after the first release the meaning of a source never
 * changes: add a version instead.
 */
export const phase9OtlpV1: MappingContract = {
  version: 'phase9-otlp-v1',
  direction: 'otlp_to_observability',
  trace_level: { fields: traceFields },
  span_level: {
    fields: {
      ...callFields,
      ...contentFields,
      ...usageFields,
      ...endingFields,
      ...usageDetailFields,
    },
    metadata_prefixes: [
      'langfuse.observation.metadata.',
      'langfuse.trace.metadata.',
      'langfuse.metadata.',
      'traceloop.association.properties.',
      'ai.telemetry.metadata.',
      'langsmith.metadata.',
    ],
    content_prefixes: [
      'embedding.embeddings.',
      'gen_ai.completion.',
      'gen_ai.prompt.',
      'llm.choices.',
      'llm.input_messages.',
      'llm.output_messages.',
      'llm.prompts.',
      'reranker.input_documents.',
      'reranker.output_documents.',
      'retrieval.documents.',
    ],
    resource_attributes: [
      'service.*',
      'deployment.*',
      'k8s.*',
      'host.name',
      'telemetry.sdk.*',
      'cloud.region',
      'container.name',
    ],
    genai_events: [
      'gen_ai.client.inference.operation.details',
      'gen_ai.evaluation.result',
      'gen_ai.*.message',
      'gen_ai.choice',
      'gen_ai.content.*',
    ],
  },
  tables: valueTables,
  limits: {
    attribute_bytes_max: 65_536,
    attributes_max: 256,
    text_chars_max: 256,
    json_bytes_max: 262_144,
    tool_calls_max: 128,
    tool_bytes_max: 4_096,
    index_end: 1_000,
    forbidden_keys: ['__proto__', 'constructor', 'prototype'],
    credential_keys: [
      'authorization',
      'proxy-authorization',
      'cookie',
      'set-cookie',
      'x-api-key',
      'api-key',
      'x-goog-api-key',
    ],
  },
  w3c_propagation: {
    traceparent: 'obs_correlations.correlation_type=w3c_traceparent',
    tracestate: 'obs_correlations.correlation_type=w3c_tracestate',
    baggage: 'obs_correlations.correlation_type=w3c_baggage',
  },
}
