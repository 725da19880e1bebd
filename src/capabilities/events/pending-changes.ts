import { z } from 'zod'
import { type ChangeHint, type ChangeKind, changeKinds } from '../../model/change-hint.ts'

/** Maximum ids of one kind in a message. Above it, `many` says that others changed too. */
export const maxChangedIds = 100

/** A changed object: its id, and the version or the task that it has. */
export type ChangedObject = {
  id: string
  version?: number | undefined
  /** Task of a finding. */
  task_id?: string | undefined
}

/** The changes of one kind in a project, in one message. */
export type Changes = {
  kind: ChangeKind
  /** The changed objects, each once. */
  changed: readonly ChangedObject[]
  /** True when other objects changed too, whose ids are left out. */
  many: boolean
}

/** The changes of a project since the last message, at most `maxChangedIds` ids of each kind. */
export class PendingChanges {
  readonly #kinds = new Map<ChangeKind, { changed: Map<string, ChangedObject>; many: boolean }>()

  /** Adds a change; a later one of the same object replaces it. */
  add({ kind, id, version, task_id }: ChangeHint): void {
    const known = this.#kinds.get(kind) ?? {
      changed: new Map<string, ChangedObject>(),
      many: false,
    }
    this.#kinds.set(kind, known)
    if (known.changed.size >= maxChangedIds && !known.changed.has(id)) {
      known.many = true
      return
    }
    known.changed.set(id, {
      id,
      ...(version !== undefined && { version }),
      ...(task_id !== undefined && { task_id }),
    })
  }

  get isEmpty(): boolean {
    return this.#kinds.size === 0
  }

  /** Returns the changes by kind. */
  list(): Changes[] {
    return [...this.#kinds].map(([kind, { changed, many }]) => ({
      kind,
      changed: [...changed.values()],
      many,
    }))
  }
}

const messageSchema = z.array(
  z.object({
    kind: z.enum(changeKinds),
    changed: z
      .array(
        z.object({
          id: z.string(),
          version: z.int().optional(),
          task_id: z.string().optional(),
        }),
      )
      .max(maxChangedIds),
    many: z.boolean(),
  }),
)

/** Encodes changes as a message to other processes. */
export function encodeChanges(changes: readonly Changes[]): Uint8Array {
  return Buffer.from(JSON.stringify(changes))
}

/** Decodes a message. Returns undefined for one that another version of the service sent. */
export function decodeChanges(message: Uint8Array): Changes[] | undefined {
  try {
    return messageSchema.parse(JSON.parse(Buffer.from(message).toString()))
  } catch {
    return undefined
  }
}
