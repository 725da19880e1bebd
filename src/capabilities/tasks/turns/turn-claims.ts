import { hash } from 'node:crypto'
import type { TaskRun } from '../../detection/reconstruction/index.ts'
import { claims_max, type Turn, type TurnVerification } from './turn-schema.ts'

/** A verified answer: the newest verified run of its trace. */
type AnswerVerification = Omit<TurnVerification, 'of_this_text'> & {
  observation_id: string
  /** SHA-256 of the answer that was verified, in hexadecimal; null if unknown. */
  answer_digest: string | null
}

/** Reads the verified answers of traces, each with its first claims. */
export type ReadVerifications = (asked: {
  project_id: string
  trace_ids: readonly string[]
  claims_max: number
}) => Promise<readonly AnswerVerification[]>

/** Returns the digest of the text of each answer that was not cut, by its observation. */
export function digestAnswers(run: TaskRun, turns: readonly Turn[]): ReadonlyMap<string, string> {
  const digests = new Map<string, string>()
  for (const { observation_id, step } of turns) {
    const found = step === null ? undefined : run.steps[step]
    if (found === undefined || found.text === null || found.chars !== undefined) continue
    digests.set(observation_id, hash('sha256', found.text))
  }
  return digests
}

/** Adds verifications to the turns whose answers they are of. */
export async function addVerifications(
  read: ReadVerifications,
  { project_id, digests }: { project_id: string; digests: ReadonlyMap<string, string> },
  turns: readonly Turn[],
): Promise<Turn[]> {
  const answered = turns.filter(({ answer }) => answer?.text !== null && answer !== null)
  const places = answered.flatMap((turn) => [turn, ...turn.further_records])
  const trace_ids = [...new Set(places.map(({ trace_id }) => trace_id))]
  if (trace_ids.length === 0) return [...turns]
  const found = await read({ project_id, trace_ids, claims_max })
  const byPlace = new Map(found.map((one) => [placeKey(one), one]))
  return turns.map((turn) => {
    const own = [turn, ...turn.further_records].map((place) => byPlace.get(placeKey(place)))
    const one = turn.answer === null ? undefined : own.find((some) => some !== undefined)
    return one === undefined ? turn : { ...turn, verification: toVerification(turn, one, digests) }
  })
}

function placeKey({ trace_id, observation_id }: { trace_id: string; observation_id: string }) {
  return `${trace_id} ${observation_id}`
}

function toVerification(
  { observation_id }: Turn,
  { observation_id: _, answer_digest, ...verification }: AnswerVerification,
  digests: ReadonlyMap<string, string>,
): TurnVerification {
  const digest = digests.get(observation_id)
  const isKnown = digest !== undefined && answer_digest !== null
  return { ...verification, of_this_text: isKnown ? digest === answer_digest : null }
}
