import { z } from 'zod'

const gate = z.object({
  metric: z.string(),
  kind: z.string(),
  tier: z.string(),
  direction: z.string(),
  limit: z.number(),
  group: z.string().nullable(),
  n: z.number(),
  clusters: z.number(),
  estimate: z.number().nullable(),
  interval: z.array(z.number()).nullable(),
  verdict: z.enum(['passed', 'failed', 'inconclusive']),
  reason: z.string().nullable(),
  warnings: z.array(z.string()),
})

/** The parts of a certification that are shown; another version of the API may have more. */
export const certificationAnswer = z.looseObject({
  certification_id: z.string(),
  state: z.string(),
  result: z.string(),
  policy: z.object({ id: z.string(), version: z.string(), digest: z.string() }),
  release: z.object({ name: z.string(), version: z.string() }),
  subject: z.string(),
  environment: z.string().nullable(),
  window: z.object({ from: z.string(), to: z.string() }),
  attempt: z.number().nullable(),
  max_attempts: z.number(),
  obstacles: z.array(z.string()),
  warnings: z.array(z.string()),
  gates: z.array(gate),
  ledger: z.object({ accepted: z.number(), lost: z.number(), pending: z.number() }).nullable(),
  expires_at: z.string().nullable(),
  error: z.string().nullable(),
})

/** A certification as the API answers it. */
export type CertificationAnswer = z.output<typeof certificationAnswer>
export type GateAnswer = CertificationAnswer['gates'][number]

/** Returns where the tasks of a release ran, as the end of a sentence. */
export function environmentText(environment: string | null): string {
  return environment === null ? 'without an environment' : `in ${environment}`
}

/** Whether a gate decides the verdict. */
export function isGating({ tier }: GateAnswer): boolean {
  return tier !== 'advisory'
}

/** Formats the limit of a gate: `≥ 0.95`, `≤ 0.02`, `drop ≤ 0.01`. */
export function limitText({ kind, direction, limit }: GateAnswer): string {
  if (kind === 'regression') return `drop ≤ ${limit}`
  return `${direction === 'higher' ? '≥' : '≤'} ${limit}`
}

/** Formats the estimate of a gate with its interval: `0.962 [0.951, 0.971]`. */
export function measuredText({ estimate, interval }: GateAnswer): string {
  if (estimate === null) return 'no value'
  const bounds = interval === null ? '' : ` [${interval.map(decimalText).join(', ')}]`
  return `${decimalText(estimate)}${bounds}`
}

/** Formats a number with four significant digits. */
function decimalText(value: number): string {
  return String(Number(value.toPrecision(4)))
}

/** Returns why a release is not certified, beside its gates, in one line. */
export function obstaclesText({ obstacles, error }: CertificationAnswer): string {
  return [...obstacles, ...(error === null ? [] : [error])].join('; ')
}
