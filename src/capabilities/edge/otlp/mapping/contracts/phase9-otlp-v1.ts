import type {
  FieldRule,
  FirstSpanFieldName,
  MappingContract,
  Source,
  SpanFieldName,
} from './contract-shape.ts'
import { callFields, traceFields } from './phase9/call-fields.ts'
import { endingFields } from './phase9/ending-fields.ts'
import { usageFields } from './phase9/usage-fields.ts'
import { valueTables } from './phase9/value-tables.ts'
import { attribute, attributes, rule } from './sources.ts'

type ContentField = Extract<
  SpanFieldName,
  'input' | 'output' | 'tool_name' | 'tool_call_id' | 'tool_calls' | 'tool_results'
>

const details = 'gen_ai.client.inference.operation.details'
const indexed = (key: string): Source => ({ from: 'indexed', key, transform: 'messages' })
const event = (name: string, key: string): Source => ({ from: 'event', event: name, key })
const calls = { transform: 'tool_calls' } as const
const results = { transform: 'tool_results' } as const
const pydantic = { in_scopes: ['pydantic-ai', 'logfire*'] }
const empty = { except: ['{}', '"{}"'] }
/** The text that OpenInference writes in place of hidden content. */
const hidden = { except: ['__REDACTED__'] }

/** Input, output and tool traffic. */
const contentFields: Record<ContentField, FieldRule> = {
  input: rule(
    'content',
    attributes('langfuse.observation.input'),
    {
      from: 'attributes',
      keys: ['gen_ai.system_instructions', 'gen_ai.input.messages'],
      transform: 'system_then_messages',
    },
    event(details, 'gen_ai.input.messages'),
    indexed('llm.input_messages'),
    attributes('ai.prompt.messages', 'ai.prompt', 'ai.toolCall.args'),
    attribute('gcp.vertex.agent.llm_request', empty),
    attribute('gcp.vertex.agent.tool_call_args', empty),
    attributes('gen_ai.tool.call.arguments', 'pydantic_ai.all_messages'),
    attribute('all_messages_events', pydantic),
    indexed('gen_ai.prompt'),
    attributes('gen_ai.prompt'),
    { from: 'events', event: 'gen_ai.*.message', transform: 'messages' },
    event('gen_ai.content.prompt', 'gen_ai.prompt'),
    attributes('mlflow.spanInputs', 'traceloop.entity.input', 'genkit:input'),
    attribute('input.value', hidden),
    indexed('llm.prompts'),
    { ...indexed('embedding.embeddings'), without: ['vector'] } as Source,
    attribute('user_prompt', { except: ['<REDACTED>'] }),
    attributes('tool_arguments', 'tool_input'),
  ),
  output: rule(
    'content',
    attributes('langfuse.observation.output', 'gen_ai.output.messages'),
    event(details, 'gen_ai.output.messages'),
    indexed('llm.output_messages'),
    attributes('ai.response.text', 'ai.response.object', 'ai.response.toolCalls'),
    attributes('ai.result.text', 'ai.result.object', 'ai.result.toolCalls', 'ai.toolCall.result'),
    attribute('gcp.vertex.agent.llm_response', empty),
    attribute('gcp.vertex.agent.tool_response', empty),
    attributes('gen_ai.tool.call.result', 'pydantic_ai.final_result'),
    attribute('final_result', pydantic),
    indexed('gen_ai.completion'),
    attributes('gen_ai.completion'),
    { from: 'events', event: 'gen_ai.choice', transform: 'messages' },
    event('gen_ai.content.completion', 'gen_ai.completion'),
    attributes('mlflow.spanOutputs', 'traceloop.entity.output', 'genkit:output'),
    attribute('output.value', hidden),
    indexed('llm.choices'),
    indexed('retrieval.documents'),
    attribute('response.model_output', { in_scopes: ['com.anthropic.claude_code*'] }),
    attributes('tool_response', 'tool_output'),
  ),
  tool_name: rule(
    'text',
    attributes('gen_ai.tool.name', 'tool.name', 'ai.toolCall.name', 'tool_name', 'mcp.tool.name'),
  ),
  tool_call_id: rule(
    'text',
    attributes('gen_ai.tool.call.id', 'tool.id', 'ai.toolCall.id', 'tool_use_id'),
  ),
  tool_calls: rule(
    'tool_calls',
    attribute('gen_ai.output.messages', calls),
    { from: 'event', event: details, key: 'gen_ai.output.messages', ...calls },
    { from: 'indexed', key: 'llm.output_messages', ...calls },
    { from: 'indexed', key: 'gen_ai.completion', ...calls },
    attribute('ai.response.toolCalls', calls),
    attribute('ai.result.toolCalls', calls),
    { from: 'events', event: 'gen_ai.choice', ...calls },
  ),
  tool_results: rule(
    'tool_results',
    attribute('gen_ai.input.messages', results),
    { from: 'event', event: details, key: 'gen_ai.input.messages', ...results },
    { from: 'indexed', key: 'llm.input_messages', ...results },
    attribute('ai.prompt.messages', results),
    { from: 'indexed', key: 'gen_ai.prompt', ...results },
    { from: 'events', event: 'gen_ai.*.message', ...results },
  ),
}

/**
 * The first contract. Rows refer to it, so the meaning of a source never changes: add a version
 * instead.
 */
export const phase9OtlpV1: MappingContract<FirstSpanFieldName> = {
  version: 'phase9-otlp-v1',
  direction: 'otlp_to_observability',
  trace_level: { fields: traceFields },
  span_level: {
    fields: { ...callFields, ...contentFields, ...usageFields, ...endingFields },
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
