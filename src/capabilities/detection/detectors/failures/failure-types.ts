/**
 * The words for failures, one per kind of trouble. A provider's errors are told apart by what helps:
 * another key, another model name, waiting, asking again. `provider_error` is one whose kind nobody
 * told.
 */
export const failureTypes = [
  'provider_auth',
  'provider_not_found',
  'provider_rate_limit',
  'provider_bad_request',
  'provider_server_error',
  'provider_timeout',
  'provider_connection',
  'provider_error',
  'output_truncated',
  'content_filter',
  'refusal',
  'empty_completion',
  'unknown_tool',
  'arguments_not_json',
  'arguments_invalid',
  'orphan_call',
  'orphan_result',
  'tool_outage',
  'tool_failure',
  'false_success',
  'duplicate_side_effect',
  'premature_stop',
  'budget_exceeded',
] as const
export type FailureType = (typeof failureTypes)[number]
