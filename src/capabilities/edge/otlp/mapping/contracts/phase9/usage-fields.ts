import type { FieldRule, Source, SpanFieldName } from '../contract-shape.ts'
import { attribute, attributes, otherwise, rule } from '../sources.ts'

type Name = Extract<
  SpanFieldName,
  | 'input_tokens'
  | 'output_tokens'
  | 'cache_read_tokens'
  | 'cache_write_tokens'
  | 'reasoning_tokens'
  | 'usage_semantics'
  | 'cost_usd'
>

const claudeCode = ['com.anthropic.claude_code*']
const inDetails = (...path: string[]): Source =>
  attribute('langfuse.observation.usage_details', { path })
const inMlflow = (...path: string[]): Source => attribute('mlflow.chat.tokenUsage', { path })
const inGenkit = (name: string): Source => attribute('genkit:output', { path: ['usage', name] })

/**
 * Reported tokens and cost. `usage_semantics` says whether the input count includes the cached
 * tokens: it does since conventions 1.40, but not in Anthropic's own keys.
 */
export const usageFields: Record<Name, FieldRule> = {
  input_tokens: rule(
    'count',
    attributes('gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'),
    attributes('llm.usage.prompt_tokens', 'llm.token_count.prompt'),
    attributes('ai.usage.inputTokens', 'ai.usage.promptTokens', 'ai.usage.tokens'),
    inDetails('input'),
    inDetails('input_tokens'),
    inDetails('prompt_tokens'),
    inMlflow('input_tokens'),
    inGenkit('inputTokens'),
    attribute('input_tokens', { in_scopes: claudeCode }),
  ),
  output_tokens: rule(
    'count',
    attributes('gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'),
    attributes('llm.usage.completion_tokens', 'llm.token_count.completion'),
    attributes('ai.usage.outputTokens', 'ai.usage.completionTokens'),
    inDetails('output'),
    inDetails('output_tokens'),
    inDetails('completion_tokens'),
    inMlflow('output_tokens'),
    inGenkit('outputTokens'),
    attribute('output_tokens', { in_scopes: claudeCode }),
  ),
  cache_read_tokens: rule(
    'count',
    attributes('gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_read_input_tokens'),
    attributes('gen_ai.usage.details.cache_read_tokens'),
    attributes(
      'gen_ai.usage.details.cache_read_input_tokens',
      'gen_ai.usage.details.cached_tokens',
    ),
    attributes('gen_ai.usage.prompt_tokens_details.cached_tokens'),
    attributes('gen_ai.usage.input_tokens.cached'),
    attributes('llm.token_count.prompt_details.cache_read', 'llm.usage.cache_read_input_tokens'),
    attributes('ai.usage.cachedInputTokens', 'ai.usage.inputTokenDetails.cacheReadTokens'),
    attributes('cache_read_input_tokens'),
    inDetails('cache_read_input_tokens'),
    inDetails('input_cached_tokens'),
    inDetails('input_cache_read'),
    inGenkit('cachedContentTokens'),
    attribute('cache_read_tokens', { in_scopes: claudeCode }),
  ),
  cache_write_tokens: rule(
    'count',
    attributes('gen_ai.usage.cache_write.input_tokens', 'gen_ai.usage.cache_creation.input_tokens'),
    attributes('gen_ai.usage.cache_write_input_tokens'),
    attributes('gen_ai.usage.cache_creation_input_tokens'),
    attributes('gen_ai.usage.details.cache_write_tokens'),
    attributes('gen_ai.usage.details.cache_creation_input_tokens'),
    attributes('gen_ai.usage.input_tokens.cache_write'),
    attributes('llm.token_count.prompt_details.cache_write'),
    attributes('llm.usage.cache_creation_input_tokens'),
    attributes('ai.usage.inputTokenDetails.cacheWriteTokens'),
    attributes('cache_creation_input_tokens'),
    inDetails('cache_creation_input_tokens'),
    inDetails('input_cache_creation'),
    attribute('cache_creation_tokens', { in_scopes: claudeCode }),
  ),
  reasoning_tokens: rule(
    'count',
    attributes('gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens'),
    attributes('gen_ai.usage.details.reasoning_tokens'),
    attributes('gen_ai.usage.completion_tokens_details.reasoning_tokens'),
    attributes('gen_ai.usage.output_tokens.reasoning'),
    attributes('llm.token_count.completion_details.reasoning', 'llm.usage.reasoning_tokens'),
    attributes('ai.usage.reasoningTokens', 'ai.usage.outputTokenDetails.reasoningTokens'),
    inDetails('output_reasoning_tokens'),
    inDetails('output_reasoning'),
  ),
  usage_semantics: rule(
    'text',
    { from: 'scope', key: 'name', only: claudeCode, gives: 'exclusive' },
    { from: 'span', key: 'name', only: ['claude_code.llm_request'], gives: 'exclusive' },
    attribute('cache_read_input_tokens', { gives: 'exclusive' }),
    attribute('cache_creation_input_tokens', { gives: 'exclusive' }),
    attribute('langfuse.observation.usage_details', { gives: 'exclusive' }),
    otherwise('inclusive'),
  ),
  cost_usd: rule(
    'dollars',
    attribute('langfuse.observation.cost_details', { path: ['total'] }),
    attribute('langfuse.observation.cost_details', { transform: 'sum_of_values' }),
    attributes('gen_ai.usage.cost', 'llm.cost.total', 'operation.cost', 'cost_usd'),
  ),
}
