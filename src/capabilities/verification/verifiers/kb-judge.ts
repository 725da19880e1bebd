import type { Judge, StoredEvidence } from '../contract.ts'
import type { Passage, Question } from '../knowledge/library.ts'
import { cutText } from '../knowledge-base/sources/locate-quote.ts'
import type { KbResult } from './kb-verdict.ts'

/** A passage, and how its evidence is read. */
export type CitedPassage = {
  passage: Passage
  cite: () => StoredEvidence | Promise<StoredEvidence>
}

/** Passages that a judge reads. */
export const maxJudgedPassages = 8

/**
 * Asks the judge about a claim that words do not decide. Without its verdict, the result of words
 * stays. The evidence is the judge's quote.
 */
export async function askJudge(
  judge: Judge,
  about: { asked: Question; passages: readonly CitedPassage[]; otherwise: KbResult },
  signal: AbortSignal,
): Promise<KbResult> {
  const { asked, passages, otherwise } = about
  if (passages.length === 0) return otherwise
  const cited = await Promise.all(passages.map(({ cite }) => cite()))
  const question = {
    claim: asked.text,
    context: asked.context ?? '',
    passages: passages.map(({ passage }, at) => ({
      source: cited[at]?.source ?? '',
      text: [passage.context, passage.text].filter((part) => part !== '').join('\n'),
    })),
    verifier: 'kb' as const,
  }
  const { verdict, confidence, quote, method, note } = await judge(question, signal)
  const evidence = quote === null ? undefined : cited[quote.passage]
  if (verdict === 'unverifiable' || quote === null || evidence === undefined) {
    return { ...otherwise, note: `${otherwise.note}; ${note}` }
  }
  const text = question.passages[quote.passage]?.text.slice(...quote.at) ?? ''
  return { verdict, confidence, method, note, evidence: [narrow(evidence, text)] }
}

/** Narrows evidence to a quote within it, where offsets in its quote are offsets in its source. */
function narrow(evidence: StoredEvidence, text: string): StoredEvidence {
  const { quote, at } = evidence
  const start = text === '' ? -1 : quote.indexOf(text)
  const isVerbatim = at !== null && at[1] - at[0] === quote.length
  if (start === -1 || !isVerbatim)
    return { ...evidence, quote: text === '' ? quote : cutText(text) }
  return { ...evidence, quote: text, at: [at[0] + start, at[0] + start + text.length] }
}
