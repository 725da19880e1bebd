import { z } from 'zod'
import { checkAnswer, indexSeen } from '../../provenance/sources/index.ts'
import type {
  CheckClaim,
  ClaimToCheck,
  Judge,
  StoredEvidence,
  StoredValue,
  Verifier,
  VerifierContext,
} from '../contract.ts'
import type { Passage, Question } from '../knowledge/library.ts'
import { createOrderHits, type Embedder } from '../knowledge-base/embeddings/order-hits.ts'
import { type KnownFact, selectKnownFacts } from '../knowledge-base/facts/store.ts'
import type { KnowledgeDb } from '../knowledge-base/knowledge-base.ts'
import { openDocumentLibrary } from '../knowledge-base/sources/document-library.ts'
import { type FactIndex, findFacts, indexFacts } from '../knowledge-base/sources/fact-index.ts'
import { cutText } from '../knowledge-base/sources/locate-quote.ts'
import { openSeenLibrary } from '../knowledge-base/sources/seen-library.ts'
import { type Fact, judgeByFacts } from '../verdicts/judge-by-facts.ts'
import { decideByWords } from '../verdicts/judge-by-words.ts'
import { withSeenValues } from './kb-values.ts'
import { decideBySources, type KbResult, type SourceVerdict } from './kb-verdict.ts'

/** Dependencies of verifier `kb`. */
export type KbDeps = {
  db: KnowledgeDb
  /** Orders passages by meaning; undefined without such a model. */
  embedder: Embedder | undefined
  /** Returns the most that the judge costs for a number of claims; undefined without a judge. */
  estimateJudge: ((claims: number) => { calls: number; nano_dollars: bigint }) | undefined
}

/** Claims of a run that the judge reads. */
const maxJudgedClaims = 60
/** Passages that are searched for a value that the agent did not see. */
const maxValuePassages = 5

const kbOptions = z.strictObject({
  trace: z.boolean().default(true).describe('Whether to search what the agent saw.'),
  documents: z.boolean().default(true).describe('Whether to search documents and facts.'),
  judge: z.boolean().default(true).describe('Whether a judge reads what words do not decide.'),
})

type KbOptions = z.output<typeof kbOptions>

/**
 * Creates verifier `kb`: values, facts and words of what the agent saw and of the project's
 * documents, then the judge. The verdicts are fused by `decideBySources`.
 */
export function createKbVerifier(deps: KbDeps): Verifier<typeof kbOptions> {
  return {
    name: 'kb',
    description:
      'Searches what the agent saw, and the documents and facts of the project. A value that none of them has is not found.',
    cost: 'free',
    options: kbOptions,
    unavailable: () => undefined,
    estimate: (claims, { judge }) => {
      const none = { calls: 0, nano_dollars: 0n }
      return judge ? (deps.estimateJudge?.(Math.min(claims, maxJudgedClaims)) ?? none) : none
    },
    open: (context, options) => openKb(deps, context, options),
  }
}

/** The sources for the claims of a run. */
type Sources = {
  seen: ReturnType<typeof openSeenLibrary>
  seenFacts: FactIndex<Fact>
  documents: ReturnType<typeof openDocumentLibrary>
  facts: FactIndex<KnownFact>
  /** Whether values that the agent did not see count as missing. */
  checksValues: boolean
  hasDocuments: boolean
}

async function openKb(
  { db, embedder }: KbDeps,
  context: VerifierContext,
  options: KbOptions,
): Promise<CheckClaim> {
  const { project_id, question } = context.answer
  const orderHits = embedder && createOrderHits(db, { embedder, paid: context.paid })
  const seen = openSeenLibrary(options.trace ? context.answer.seen : [])
  const stored = options.documents ? await selectKnownFacts(db, project_id) : []
  const sources: Sources = {
    seen,
    seenFacts: indexFacts(seen.facts),
    documents: openDocumentLibrary(db, { project_id, orderHits }),
    facts: indexFacts(stored),
    hasDocuments: options.documents,
    checksValues: options.trace,
  }
  const judge = options.judge ? context.judge : undefined
  let judged = 0
  return async (claim, signal) => {
    const asked = { text: claim.text, context: question }
    const found = await searchSources(sources, asked, signal)
    const { verdicts, missing } = weighSources(sources, claim, { asked, found })
    const weighed = decideBySources(await Promise.all(verdicts.map(cite)), missing)
    const decided = sources.checksValues ? withSeenValues(claim, weighed) : weighed
    const isOpen = decided.verdict === 'unverifiable' || decided.method === 'words'
    const mayAsk = judge !== undefined && isOpen && decided.verdict !== 'supported'
    if (!mayAsk || judged >= maxJudgedClaims) return decided
    judged += 1
    const passages = [...found.documents, ...found.seen].slice(0, maxJudgedPassages)
    return askJudge(judge, { asked, passages, otherwise: decided }, signal)
  }
}

/** A verdict whose evidence is not read yet. */
type OpenVerdict = Omit<SourceVerdict, 'evidence'> & { cites: readonly (() => Cited)[] }
type Cited = StoredEvidence | Promise<StoredEvidence>
type Found = { seen: readonly CitedPassage[]; documents: readonly CitedPassage[] }

async function cite({ cites, ...verdict }: OpenVerdict): Promise<SourceVerdict> {
  return { ...verdict, evidence: await Promise.all(cites.map((each) => each())) }
}

async function searchSources(
  { seen, documents, hasDocuments }: Sources,
  asked: Question,
  signal: AbortSignal,
): Promise<Found> {
  const found = hasDocuments ? await documents.find(asked, signal) : []
  return {
    seen: seen.find(asked).map((passage) => ({ passage, cite: () => seen.cite(passage) })),
    documents: found.map((passage) => ({ passage, cite: () => documents.cite(passage) })),
  }
}

/** Asks each source, and lists the values of the claim that none of them has. */
function weighSources(
  sources: Sources,
  claim: ClaimToCheck,
  { asked, found }: { asked: Question; found: Found },
): { verdicts: OpenVerdict[]; missing: string[] } {
  const own = findFacts(sources.facts, asked)
  const verdicts = [
    byFacts(
      asked,
      own.map(({ fact }) => fact),
      'facts',
    ),
    byFacts(asked, findFacts(sources.seenFacts, asked), 'what the agent saw'),
    byWords(asked, found.documents, 'documents'),
    byWords(asked, found.seen, 'what the agent saw'),
  ]
  const texts = [
    ...own.map(
      ({ subject, attribute, value, unit }) => `${subject}: ${attribute} = ${value} ${unit}`,
    ),
    ...found.documents.slice(0, maxValuePassages).map(({ passage }) => passage.text),
  ]
  return {
    verdicts: withDispute(verdicts, asked, found),
    missing: sources.checksValues ? missingValues(claim, texts) : [],
  }
}

/** A value with a doubt, such as one that may be calculated, leaves its claim open. */
function isInvented({ verdict, reason }: StoredValue): boolean {
  return verdict === 'other_subject' || (verdict === 'unsupported' && (reason ?? null) === null)
}

/** Returns the values that the agent did not see and that no text has or lets derive. */
function missingValues({ text, values }: ClaimToCheck, texts: readonly string[]): string[] {
  const unsupported = values.filter(isInvented)
  if (unsupported.length === 0 || texts.length === 0) return unsupported.map(({ value }) => value)
  const index = indexSeen(texts.map((each, at) => ({ source: String(at), text: each })))
  const known = new Set(
    checkAnswer(text, index)
      .filter(({ verdict }) => /^(?:seen|derived|exempt)$/.test(verdict))
      .map(({ value }) => value),
  )
  return unsupported.map(({ value }) => value).filter((value) => !known.has(value))
}

function byFacts(asked: Question, facts: readonly Fact[], by: SourceVerdict['by']): OpenVerdict {
  const { verdict, confidence, method, evidence } = judgeByFacts(asked, facts)
  const cites = evidence.map(({ source, quote }) => (): StoredEvidence => {
    const kind = by === 'facts' ? 'fact' : 'trace'
    return { kind, source, quote, at: null, digest: null }
  })
  return { verdict: narrowed(verdict), confidence, method, cites, by }
}

function byWords(
  asked: Question,
  found: readonly CitedPassage[],
  by: SourceVerdict['by'],
): OpenVerdict {
  const passages = found.map(({ passage }) => passage)
  const { verdict, confidence, method, evidence, differs } = decideByWords(asked, passages)
  const cites = found
    .filter(({ passage }) => evidence.some(({ source, at }) => isAt(passage, source, at)))
    .map((each) => each.cite)
  const decided = { verdict: narrowed(verdict), confidence, method, by }
  return { ...decided, cites: cites.slice(0, 3), ...(differs === undefined ? {} : { differs }) }
}

function isAt(passage: Passage, source: string, at: readonly number[] | undefined): boolean {
  return passage.source === source && passage.at === at
}

/**
 * Words cannot contradict. But if a passage of one source has another number, the other source's
 * support by words does not count, and neither decides.
 */
function withDispute(verdicts: OpenVerdict[], asked: Question, found: Found): OpenVerdict[] {
  const words = verdicts.filter(({ method }) => method === 'words' || method === 'quote')
  if (!words.some(isAgreeing)) return verdicts
  if (found.documents.length === 0 || found.seen.length === 0) return verdicts
  const all = [...found.documents, ...found.seen]
  if (isAgreeing(byWords(asked, all, 'documents'))) return verdicts
  const cites = words.flatMap((each) => {
    const nearest = each.by === 'documents' ? found.documents[0] : found.seen[0]
    return each.cites[0] ?? nearest?.cite ?? []
  })
  const disputed: OpenVerdict = {
    verdict: 'unverifiable',
    confidence: 0.5,
    method: 'words',
    cites,
    by: 'documents',
  }
  return [...verdicts.filter((each) => !words.includes(each)), disputed]
}

function isAgreeing({ verdict }: OpenVerdict): boolean {
  return verdict === 'supported' || verdict === 'likely'
}

function narrowed(verdict: string): SourceVerdict['verdict'] {
  const known = ['supported', 'likely', 'contradicted', 'not_found'] as const
  return known.find((each) => each === verdict) ?? 'unverifiable'
}

/** A passage, and how its evidence is read. */
type CitedPassage = {
  passage: Passage
  cite: () => StoredEvidence | Promise<StoredEvidence>
}

/** Passages that a judge reads. */
const maxJudgedPassages = 8

/**
 * Asks the judge about a claim that words do not decide. Without its verdict, the result of words
 * stays. The evidence is the judge's quote.
 */
async function askJudge(
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
