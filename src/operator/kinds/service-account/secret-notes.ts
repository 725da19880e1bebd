import { hash } from 'node:crypto'
import { z } from 'zod'
import type { Secret } from '../../../platform/kube/index.ts'
import { apiGroup } from '../../contract.ts'
import { previousKeys_max } from './spec.ts'

/** A key that another one replaced and that works until then. */
export type PreviousKey = { id: string; ends_at: string }

/** What the operator notes on a Secret beside the key. */
export type SecretNotes = {
  /** When its key was made, by the operator's clock; undefined when nobody can tell. */
  minted_at_ms: number | undefined
  previous: readonly PreviousKey[]
}

const mintedAt = `${apiGroup}/minted-at`
const previousKeys = `${apiGroup}/previous-keys`

const previousShape = z
  .array(z.object({ id: z.uuid(), ends_at: z.iso.datetime() }))
  .max(previousKeys_max)

/** Reads the notes; whatever is not as it was written counts as not written. */
export function readNotes({ annotations }: Pick<Secret, 'annotations'>): SecretNotes {
  const minted_at_ms = Date.parse(annotations[mintedAt] ?? '')
  const previous = previousShape.safeParse(jsonOf(annotations[previousKeys] ?? '[]'))
  return {
    minted_at_ms: Number.isNaN(minted_at_ms) ? undefined : minted_at_ms,
    previous: previous.success ? previous.data : [],
  }
}

/** The annotations that hold the notes. Of too many previous keys the oldest are left out. */
export function writeNotes(notes: {
  minted_at_ms: number
  previous: readonly PreviousKey[]
}): Record<string, string> {
  return {
    [mintedAt]: new Date(notes.minted_at_ms).toISOString(),
    [previousKeys]: JSON.stringify(notes.previous.slice(-previousKeys_max)),
  }
}

/** What the service says of a key by the same name: the start of its SHA-256. */
export function fingerprintOf(value: string): string {
  return hash('sha256', value, 'hex').slice(0, 16)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
