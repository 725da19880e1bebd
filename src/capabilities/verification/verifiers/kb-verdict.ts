import type { StoredEvidence, StoredResult } from '../contract.ts'

/** The outcome of verifier `kb` without its name. */
export type KbResult = Omit<StoredResult, 'verifier'>

/** The verdict of one source on a claim. */
export type SourceVerdict = {
  verdict: 'supported' | 'likely' | 'contradicted' | 'unverifiable' | 'not_found'
  confidence: number
  method: string
  evidence: readonly StoredEvidence[]
  /** Name of the kind of source in notes. */
  by: 'facts' | 'what the agent saw' | 'documents' | 'a judge'
  /** The other number that an undecided passage has. */
  differs?: string
}

/** Confidence that a value without any source was invented. */
const inventedConfidence = 0.9

/**
 * Decides a claim by its sources, in this order:
 * 1. sources that support and sources that contradict: `unverifiable`, with both;
 * 2. a source contradicts;
 * 3. a value that neither the agent saw nor a document or fact has: `not_found`;
 * 4. a source supports, the most confident first;
 * 5. a passage has the words of the claim: `likely`;
 * 6. a passage that does not decide: `unverifiable`, with the passage; it says so if it has another number;
 * 7. `not_found`.
 */
export function decideBySources(
  sources: readonly SourceVerdict[],
  missing: readonly string[],
): KbResult {
  const likely = strongest(sources, 'likely')
  const supported = strongest(sources, 'supported')
  const agreeing = supported ?? likely
  const contradicted = strongest(sources, 'contradicted')
  if (agreeing !== undefined && contradicted !== undefined) {
    return disagreement(agreeing, contradicted)
  }
  if (contradicted !== undefined) {
    return toResult(contradicted, `contradicted by ${contradicted.by}`)
  }
  if (missing.length > 0) return invented(missing)
  if (supported !== undefined) return toResult(supported, `supported by ${supported.by}`)
  if (likely !== undefined)
    return toResult(likely, `a passage, of ${likely.by}, has the words of the claim`)
  const open = strongest(
    sources.filter(({ evidence }) => evidence.length > 0),
    'unverifiable',
  )
  if (open?.differs !== undefined)
    return toResult(open, `differs: ${open.differs} in ${open.by}; to be reviewed`)
  if (open !== undefined) {
    return toResult(open, `the nearest passage, of ${open.by}, does not decide it`)
  }
  return {
    verdict: 'not_found',
    confidence: 0.5,
    method: 'words',
    evidence: [],
    note: 'no passage says this',
  }
}

/** Returns the result of two sources that contradict each other, with the evidence of both. */
function disagreement(one: SourceVerdict, other: SourceVerdict): KbResult {
  return {
    verdict: 'unverifiable',
    confidence: 0.5,
    method: one.method,
    evidence: [...one.evidence.slice(0, 2), ...other.evidence.slice(0, 2)],
    note: `the sources disagree: ${one.by} and ${other.by}`,
  }
}

function invented(missing: readonly string[]): KbResult {
  const values = missing.slice(0, 3).map((value) => `"${value.slice(0, 80)}"`)
  const more = missing.length > 3 ? ` and ${missing.length - 3} more` : ''
  return {
    verdict: 'not_found',
    confidence: inventedConfidence,
    method: 'provenance',
    evidence: [],
    note: `${values.join(', ')}${more}: not found in what the agent saw`,
  }
}

function strongest(
  sources: readonly SourceVerdict[],
  verdict: SourceVerdict['verdict'],
): SourceVerdict | undefined {
  return sources
    .filter((source) => source.verdict === verdict)
    .toSorted((one, other) => other.confidence - one.confidence)[0]
}

function toResult(
  { verdict, confidence, method, evidence }: SourceVerdict,
  note: string,
): KbResult {
  return { verdict, confidence, method, evidence, note }
}
