import {
  digestPolicy,
  type PolicyDocument,
  policyBody,
  toPolicyDocument,
} from '../policy/policy.ts'

/** Id of the policy that applies when a request names none. */
export const defaultPolicyId = 'default'

/**
 * The built-in policy `default`, version 0. It applies to a project that has no policy of this id.
 * It requires that tasks succeed and rarely loop or fail, and reports the feedback of end users.
 */
export const builtInPolicy: PolicyDocument = toPolicyDocument(
  defaultPolicyId,
  0,
  policyBody.parse({
    gates: [
      {
        metric: 'task_success_rate',
        kind: 'absolute',
        tier: 'critical',
        threshold: 0.9,
        min_samples: 50,
      },
      {
        metric: 'unresolved_failure_rate',
        kind: 'absolute',
        tier: 'critical',
        threshold: 0.05,
        min_samples: 50,
      },
      {
        metric: 'loop_rate',
        kind: 'absolute',
        tier: 'supporting',
        threshold: 0.05,
        min_samples: 50,
      },
      {
        metric: 'negative_feedback_rate',
        kind: 'absolute',
        tier: 'advisory',
        threshold: 0.2,
        min_samples: 20,
      },
    ],
  }),
)

/** Digest of the built-in policy, in hex. */
export const builtInDigest = digestPolicy(builtInPolicy)
