/** Kinds of findings: loops, failures, lost context, and claims of answers without support. */
export const findingKinds = ['loop', 'failure', 'context', 'claim'] as const
export type FindingKind = (typeof findingKinds)[number]

/** Types of the findings of verifications, which are of the kind `claim`. */
export const verificationTypes = ['unsupported_claim', 'contradicted_claim'] as const

/** A kind of findings: its heading on pages, and its types. */
type KindDeclaration = { title: string; types: readonly string[] }

/**
 * The types are those that the detectors declare, and those of verifications. Schemas, filters,
 * commands, pages and the types of rows follow from this declaration.
 */
const declarations = {
  loop: {
    title: 'Loops',
    types: [
      'repeat_error',
      'repeat_call',
      'cycle',
      'monologue',
      'error_streak',
      'similar_call',
      'scattered_repeat',
      'content_chant',
      'budget',
    ],
  },
  failure: {
    title: 'Failures',
    types: [
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
      'hidden_tool_error',
      'repeated_work',
      'claimed_not_called',
      'duplicate_side_effect',
      'premature_stop',
      'budget_exceeded',
    ],
  },
  context: {
    title: 'Context',
    types: [
      'lost_context',
      'contradicted_fact',
      'repeated_question',
      'context_truncated',
      'constraint_dropped',
      'context_overflow',
      'conversation_reset',
    ],
  },
  claim: { title: 'Claims', types: ['unsupported_value', ...verificationTypes] },
} as const satisfies Record<FindingKind, KindDeclaration>

/** A type of the findings of a kind. */
export type FindingType<Kind extends FindingKind> = (typeof declarations)[Kind]['types'][number]

export const findingDeclarations: Readonly<Record<FindingKind, KindDeclaration>> = declarations
