import type { FieldRule, Source, SpanFieldName } from '../contract-shape.ts'
import { usageFields as first } from '../phase9/usage-fields.ts'
import { attribute, attributes, otherwise, rule } from '../sources.ts'

type Name = keyof typeof first | Extract<SpanFieldName, 'total_tokens' | 'output_semantics'>

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
const others = (name: keyof typeof first): Source[] =>
  first[name].sources.filter((source) => !('key' in source && source.key === usageDetails))

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
export const usageFields: Record<Name, FieldRule> = {
  ...first,
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
