import { contentFields } from './content-fields-v1-1.ts'
import type {
  FieldRule,
  MappingContract,
  SecondSpanFieldName,
  Source,
  SpanFieldName,
  ValueTable,
} from './contract-shape.ts'
import {
  callFields as firstCallFields,
  traceFields as firstTraceFields,
} from './phase9/call-fields.ts'
import { endingFields as firstEndingFields } from './phase9/ending-fields.ts'
import { usageFields as firstUsageFields } from './phase9/usage-fields.ts'
import { valueTables as firstValueTables } from './phase9/value-tables.ts'
import { phase9OtlpV1 } from './phase9-otlp-v1.ts'
import { attribute, attributes, otherwise, rule } from './sources.ts'

/** The first contract's fields, except for a span that only looks like a tool. */
const callFields: typeof firstCallFields = {
  ...firstCallFields,
  type: rule(
    'text',
    // Google ADK repeats the results of parallel tools in a span of this name.
    attribute('gen_ai.tool.name', { only: ['(merged tools)'], gives: 'span', silent: true }),
    [...firstCallFields.type.sources],
  ),
}

/**
 * The first contract's fields, with more sources of `finish_reason` and the time to the first
 * token.
 */
const endingFields: typeof firstEndingFields = {
  ...firstEndingFields,
  finish_reason: rule('text', [
    ...firstEndingFields.finish_reason.sources,
    {
      from: 'attributes',
      keys: ['gen_ai.output.messages'],
      path: ['0', 'finish_reason'],
      table: 'finish_reasons',
    },
    {
      from: 'event',
      event: 'gen_ai.client.inference.operation.details',
      key: 'gen_ai.output.messages',
      path: ['0', 'finish_reason'],
      table: 'finish_reasons',
    },
    { from: 'event', event: 'gen_ai.choice', key: 'finish_reason', table: 'finish_reasons' },
  ]),
  time_to_first_token_ms: rule('milliseconds', [
    ...firstEndingFields.time_to_first_token_ms.sources,
    // Strands Agents uses the name of the conventions' metric, which is in seconds, for
    // milliseconds.
    attribute('gen_ai.server.time_to_first_token', { in_scopes: ['strands*'] }),
  ]),
}

/** OpenLLMetry calls each node of a graph a task; its ids would split a run into many tasks. */
const exceptNodes = { except_scopes: ['opentelemetry.instrumentation.langchain*'] }

/** The first contract's fields, except for tasks that are nodes of a graph. */
const traceFields: typeof firstTraceFields = {
  ...firstTraceFields,
  task_id: rule('text', attributes('looptrace.task.id'), attribute('gen_ai.task.id', exceptNodes), {
    from: 'request',
    key: 'trace_id',
  }),
  task_name: rule(
    'text',
    attributes('looptrace.task.name'),
    attribute('gen_ai.task.name', exceptNodes),
    attributes('traceloop.workflow.name', 'gen_ai.workflow.name'),
  ),
}

/** The value tables of phase9-otlp-v1.1: those of the first contract, with new words. */
const valueTables: Readonly<Record<string, ValueTable>> = {
  ...firstValueTables,
  operation_names: {
    values: {
      ...firstValueTables['operation_names']?.values,
      // Strands Agents: one turn of an agent's loop, and agents that work together.
      execute_event_loop_cycle: 'chain',
      invoke_swarm: 'chain',
      invoke_graph: 'chain',
    },
  },
}

type UsageField =
  | keyof typeof firstUsageFields
  | Extract<SpanFieldName, 'total_tokens' | 'output_semantics'>

const claudeCode = ['com.anthropic.claude_code*']
const usageDetails = 'langfuse.observation.usage_details'
const inDetails = (...path: string[]): Source => attribute(usageDetails, { path })
const metadata = 'ai.response.providerMetadata'
/** The usage in Anthropic's own response, which the AI SDK passes on. */
const inAnthropic = (name: string): Source =>
  attribute(metadata, { path: ['anthropic', 'usage', name] })
/** Reasoning tokens of Google ADK before 2.3, whose output count excludes them. */
const thoughts = 'gen_ai.usage.experimental.reasoning_tokens'
/** The first contract's sources except Langfuse's, whose own keys come before them. */
const others = (name: keyof typeof firstUsageFields): Source[] =>
  firstUsageFields[name].sources.filter(
    (source) => !('key' in source && source.key === usageDetails),
  )

/**
 * Reported tokens and cost. `usage_semantics` says whether the input count includes the cached
 * tokens, `output_semantics` whether the output count includes the reasoning.
 *
 * Langfuse accepts usage in two forms. Its own keys (`input`, `input_cached_tokens`, `output`,
 * `output_reasoning_tokens`) are disjoint. The usage of OpenAI's APIs (`prompt_tokens` or
 * `input_tokens` with `…_details`) is passed on unchanged; there the details are parts of the
 * totals.
 *
 * The AI SDK's input count of an Anthropic model includes the cached tokens since release 6.
 * Anthropic's own counts never do, and report the tokens written to the cache separately.
 */
const usageFields: Record<UsageField, FieldRule> = {
  ...firstUsageFields,
  input_tokens: rule(
    'count',
    inDetails('input'),
    inDetails('prompt_tokens'),
    inDetails('input_tokens'),
    inAnthropic('input_tokens'),
    others('input_tokens'),
  ),
  output_tokens: rule(
    'count',
    inDetails('output'),
    inDetails('completion_tokens'),
    inDetails('output_tokens'),
    others('output_tokens'),
  ),
  cache_read_tokens: rule(
    'count',
    inDetails('cache_read_input_tokens'),
    inDetails('input_cached_tokens'),
    inDetails('input_cache_read'),
    inDetails('prompt_tokens_details', 'cached_tokens'),
    inDetails('input_tokens_details', 'cached_tokens'),
    inAnthropic('cache_read_input_tokens'),
    others('cache_read_tokens'),
  ),
  cache_write_tokens: rule(
    'count',
    inDetails('cache_creation_input_tokens'),
    inDetails('input_cache_creation'),
    inDetails('input_cache_write'),
    inAnthropic('cache_creation_input_tokens'),
    others('cache_write_tokens'),
  ),
  reasoning_tokens: rule(
    'count',
    inDetails('output_reasoning_tokens'),
    inDetails('output_reasoning'),
    inDetails('completion_tokens_details', 'reasoning_tokens'),
    inDetails('output_tokens_details', 'reasoning_tokens'),
    others('reasoning_tokens'),
    attributes(thoughts),
  ),
  total_tokens: rule(
    'count',
    attributes('gen_ai.usage.total_tokens', 'llm.usage.total_tokens', 'llm.token_count.total'),
    attributes('ai.usage.totalTokens'),
  ),
  usage_semantics: rule(
    'text',
    { from: 'scope', key: 'name', in_scopes: claudeCode, gives: 'exclusive' },
    { from: 'span', key: 'name', only: ['claude_code.llm_request'], gives: 'exclusive' },
    attribute('cache_read_input_tokens', { gives: 'exclusive' }),
    attribute('cache_creation_input_tokens', { gives: 'exclusive' }),
    attribute(usageDetails, { path: ['input'], gives: 'exclusive' }),
    attribute(usageDetails, { path: ['prompt_tokens'], gives: 'inclusive' }),
    attribute(usageDetails, {
      path: ['input_tokens_details', 'cached_tokens'],
      gives: 'inclusive',
    }),
    attribute(usageDetails, { gives: 'exclusive' }),
    attribute(metadata, { path: ['anthropic', 'usage', 'input_tokens'], gives: 'exclusive' }),
    otherwise('inclusive'),
  ),
  output_semantics: rule(
    'text',
    attribute(usageDetails, { path: ['output'], gives: 'exclusive' }),
    attribute(thoughts, { gives: 'exclusive' }),
    otherwise('inclusive'),
  ),
}

/**
 * The first contract, revised. Spans of tools are read as calls with a result (Strands Agents,
 * LangChain); usage and tool calls of Langfuse are found in all their forms. Rows refer to this
 * contract, so the meaning of a source never changes: add a version instead.
 */
export const phase9OtlpV1x1: MappingContract<SecondSpanFieldName> = {
  ...phase9OtlpV1,
  version: 'phase9-otlp-v1.1',
  trace_level: { fields: traceFields },
  span_level: {
    ...phase9OtlpV1.span_level,
    fields: { ...callFields, ...contentFields, ...usageFields, ...endingFields },
  },
  tables: valueTables,
}
