import { contentFields } from './content-fields-v1-1.ts'
import type {
  FieldRule,
  MappingContract,
  Source,
  SpanFieldName,
  ValueTable,
} from './contract-shape.ts'
import { callFields as firstCallFields } from './phase9/call-fields.ts'
import { endingFields as firstEndingFields } from './phase9/ending-fields.ts'
import { traceFields as firstTraceFields } from './phase9/trace-fields.ts'
import { usageFields as firstUsageFields } from './phase9/usage-fields.ts'
import { valueTables as firstValueTables } from './phase9/value-tables.ts'
import { phase9OtlpV1 } from './phase9-otlp-v1.ts'
import { attribute, attributes, otherwise, rule } from './sources.ts'

/** As in the first contract, but for a span that only looks like a tool. */
const callFields: typeof firstCallFields = {
  ...firstCallFields,
  type: rule(
    'text',
    // Google ADK repeats the results of tools that ran side by side in a span of this name.
    attribute('gen_ai.tool.name', { only: ['(merged tools)'], gives: 'span', silent: true }),
    [...firstCallFields.type.sources],
  ),
}

/** As in the first contract; `finish_reason` and the time to the first token have further sources. */
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
    // Strands Agents names it as the metric of the conventions, which has seconds, in milliseconds.
    attribute('gen_ai.server.time_to_first_token', { in_scopes: ['strands*'] }),
  ]),
}

/** OpenLLMetry calls each node of a graph a task: its ids would tear a run apart. */
const exceptNodes = { except_scopes: ['opentelemetry.instrumentation.langchain*'] }

/** As in the first contract, but for tasks that are nodes of a graph. */
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

/** The value tables of phase9-otlp-v1.1: those of the first contract, with the words added since. */
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
/** The usage of Anthropic's own response, as the AI SDK passes it on. */
const inAnthropic = (name: string): Source =>
  attribute(metadata, { path: ['anthropic', 'usage', name] })
/** Of Google ADK before 2.3, whose output count leaves them out. */
const thoughts = 'gen_ai.usage.experimental.reasoning_tokens'
/** The sources of the first contract that are not Langfuse's; Langfuse's own come before them. */
const others = (name: keyof typeof firstUsageFields): Source[] =>
  firstUsageFields[name].sources.filter(
    (source) => !('key' in source && source.key === usageDetails),
  )

/**
 * Tokens and money as they were reported. `usage_semantics` says whether the input count holds the
 * cached tokens, `output_semantics` whether the output count holds the reasoning.
 *
 * Langfuse takes usage in two shapes. Its own keys (`input`, `input_cached_tokens`, `output`,
 * `output_reasoning_tokens`) are disjoint. What OpenAI's
 * APIs answer (`prompt_tokens` or `input_tokens` with `…_details`) it passes on as it is; there the
 * details are parts of the totals.
 *
 * The AI SDK's input count of an Anthropic model holds the cached tokens since release 6 and does not
 * before. The counts that Anthropic answered never do, and name what was written to the cache.
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
 * The first contract, revised: spans of tools are read as calls with a result (Strands Agents,
 * LangChain), usage and tool calls of Langfuse are found in each of its shapes. Everything else is as
 * in the first. Rows name this contract, so it never changes what a source means: add a version.
 */
export const phase9OtlpV1x1: MappingContract = {
  ...phase9OtlpV1,
  version: 'phase9-otlp-v1.1',
  trace_level: { fields: traceFields },
  span_level: {
    ...phase9OtlpV1.span_level,
    fields: { ...callFields, ...contentFields, ...usageFields, ...endingFields },
  },
  tables: valueTables,
}
