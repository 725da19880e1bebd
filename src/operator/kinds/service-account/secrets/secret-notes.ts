import { hash } from 'node:crypto'
import { z } from 'zod'
import type { Secret } from '../../../../platform/kube/index.ts'
import { apiGroup } from '../../../contract.ts'
import { maxPreviousKeys } from '../spec.ts'

/** A replaced key that is valid until `ends_at`. */
export type PreviousKey = { id: string; ends_at: string }

/** The operator's annotations of a Secret. */
export type SecretNotes = {
  /** Time at which its key was minted, by the operator's clock; undefined when unknown. */
  minted_at_ms: number | undefined
  previous: readonly PreviousKey[]
}

const mintedAt = `${apiGroup}/minted-at`
const previousKeys = `${apiGroup}/previous-keys`

/** Annotation with the `TemplateNote` of a Secret. */
export const templateNoteName = `${apiGroup}/secret-template`

/** The template with which a Secret was written. */
export type TemplateNote = {
  /** Identifies template and values. */
  digest: string
  /** Names of the labels and annotations that the template set. */
  labels: readonly string[]
  annotations: readonly string[]
}

const previousShape = z
  .array(z.object({ id: z.uuid(), ends_at: z.iso.datetime() }))
  .max(maxPreviousKeys)

const names = z.array(z.string().max(253)).max(20)
const templateShape = z.object({
  digest: z.string().max(64),
  labels: names,
  annotations: names,
})

/** Reads the note on the template; undefined without a template. */
export function readTemplateNote(
  annotations: Readonly<Record<string, string>>,
): TemplateNote | undefined {
  const { [templateNoteName]: text } = annotations
  return text === undefined ? undefined : templateShape.safeParse(parseJson(text)).data
}

/** Reads the notes. Values in an unexpected format count as missing. */
export function readNotes({ annotations }: Pick<Secret, 'annotations'>): SecretNotes {
  const minted_at_ms = Date.parse(annotations[mintedAt] ?? '')
  const previous = previousShape.safeParse(parseJson(annotations[previousKeys] ?? '[]'))
  return {
    minted_at_ms: Number.isNaN(minted_at_ms) ? undefined : minted_at_ms,
    previous: previous.success ? previous.data : [],
  }
}

/**
 * Returns the annotations for the notes. Beyond the maximum the oldest previous keys are dropped.
 */
export function writeNotes(notes: {
  minted_at_ms: number
  previous: readonly PreviousKey[]
}): Record<string, string> {
  return {
    [mintedAt]: new Date(notes.minted_at_ms).toISOString(),
    [previousKeys]: JSON.stringify(notes.previous.slice(-maxPreviousKeys)),
  }
}

/** Returns the `fingerprint` that the service has for a key: the start of its SHA-256. */
export function fingerprintOf(value: string): string {
  return hash('sha256', value, 'hex').slice(0, 16)
}

/** Returns a short digest of a value, by which a change of the value is noticed. */
export function digestOf(value: unknown): string {
  return fingerprintOf(JSON.stringify(value))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
