import { AsyncLocalStorage } from 'node:async_hooks'
import type { ActorKind, AuditChange, AuditEntry, AuditOutcome } from '../../model/audit-entry.ts'
import {
  runInInstallation,
  runInOrganization,
  runInProject,
  runWithOrganization,
} from '../tenancy/index.ts'

/**
 * A statement that appends a record if its transaction wrote anything. The store runs it in the
 * transaction of the change. It returns the number of the record.
 */
export type AuditStatement = {
  name: string
  text: string
  values: (string | number | Buffer | null)[]
}

/** The first row that a statement inserts. */
export type CreatedRow = { table: string; id: string }

/** Where calls are recorded. */
export type AuditTrail = {
  /** Returns the organization of a project; undefined for an unknown one. */
  findOrganization(project_id: string): Promise<string | undefined>
  /** Returns the statement that appends an entry to its chain. */
  toStatement(entry: AuditEntry): AuditStatement
  /** Appends an entry in a transaction of its own. */
  append(entry: AuditEntry): Promise<void>
  /** Writes a read of content by a person to the disk. Throws if it cannot. */
  storeRead(entry: AuditEntry): void
  /**
   * Keeps the entry of a refused call on disk, to append it when the store is available again. It
   * may lack its organization. Without this, such an entry is lost.
   */
  keep?(entry: AuditEntry): Promise<void>
}

/** The part of an entry that is known before the caller is authenticated. */
export type CallDetails = Pick<
  AuditEntry,
  'recorded_at' | 'action' | 'resource_type' | 'resource_id' | 'request_id' | 'origin'
> & {
  user_agent: string | null
  /** Whether the path ends with a collection. The resource is then the created object. */
  is_collection: boolean
}

/**
 * A call that is audited. It is bound to the asynchronous context of the call, so that the
 * relational store finds it at the commit of the change without a parameter. Only commits inside
 * `change` write the record; writes of sign-in and background work do not.
 */
export class AuditedCall {
  readonly #details: CallDetails
  readonly #trail: AuditTrail
  #actor: { kind: ActorKind; id: string | null } = { kind: 'anonymous', id: null }
  #organization_id: string | null = null
  #project_id: string | null = null
  /** The project and its organization, as the trail found it. */
  #projectOwner: { project_id: string; organization_id: string } | undefined
  #change: AuditChange | null = null
  #resource_id: string | null
  #hasCreated = false
  #outcome: AuditOutcome = 'succeeded'
  #read: Promise<void> | undefined
  #phase: 'before' | 'changing' | 'over' = 'before'
  #state: 'open' | 'taken' | 'recorded' = 'open'

  constructor(trail: AuditTrail, details: CallDetails) {
    this.#trail = trail
    this.#details = details
    this.#resource_id = details.resource_id
  }

  /** Whether the record is committed. */
  get isRecorded(): boolean {
    return this.#state === 'recorded'
  }

  /** Whether the next commit of a change writes the record. */
  get isChanging(): boolean {
    return this.#phase === 'changing' && this.#state === 'open'
  }

  noteActor(kind: ActorKind, id: string): void {
    this.#actor = { kind, id }
  }

  noteProject(project_id: string): void {
    this.#project_id = project_id
  }

  noteOrganization(organization_id: string): void {
    this.#organization_id = organization_id
  }

  /** Notes that the work ended with an error, so that its record has the outcome `failed`. */
  noteFailure(): void {
    this.#outcome = 'failed'
  }

  /** Notes the values before the change, or the requested values. */
  noteChange(change: AuditChange): void {
    this.#change = { ...this.#change, ...change }
  }

  /** Notes the id of a new row, if its table has the name of the collection in the path. */
  noteCreated({ table, id }: CreatedRow): void {
    const { resource_type, is_collection } = this.#details
    const name = resource_type.split('/').at(-1)?.replaceAll('-', '_') ?? ''
    if (!is_collection || this.#hasCreated || !table.endsWith(name)) return
    this.#hasCreated = true
    this.#resource_id = id
  }

  /** Runs the change. Its first commit writes the record. */
  async change<T>(run: () => Promise<T>): Promise<T> {
    await this.#findOrganization()
    this.#phase = 'changing'
    try {
      const owner = this.#projectOwner
      return await (owner === undefined ? run() : runWithOrganization(owner, run))
    } finally {
      this.#phase = 'over'
    }
  }

  /**
   * Commits a change with the record of the call. `commit` runs the statement of the record, and
   * resolves with whether there is a record now. Otherwise a later commit can write one. `created`
   * is the row that the change inserts, if the commit includes the change.
   */
  async commitWith(
    commit: (statement: AuditStatement) => Promise<boolean>,
    created?: CreatedRow,
  ): Promise<void> {
    const before = { resource_id: this.#resource_id, hasCreated: this.#hasCreated }
    if (created !== undefined) this.noteCreated(created)
    this.#state = 'taken'
    try {
      const isRecorded = await commit(this.#trail.toStatement(this.#entry(this.#outcome, null, 0)))
      this.#state = isRecorded ? 'recorded' : 'open'
    } catch (error) {
      this.#state = 'open'
      throw error
    } finally {
      if (this.#state === 'open') {
        this.#resource_id = before.resource_id
        this.#hasCreated = before.hasCreated
      }
    }
  }

  /** Records the call in a transaction of its own. */
  async record(outcome: AuditOutcome, code: string | null = null, suppressed = 0): Promise<void> {
    await this.#findOrganization()
    await this.#trail.append(this.#entry(outcome, code, suppressed))
    this.#state = 'recorded'
  }

  /** Keeps the call on disk after `record` failed. Rejects if the trail cannot keep it. */
  async keep(outcome: AuditOutcome, code: string | null, suppressed: number): Promise<void> {
    await this.#trail.keep?.(this.#entry(outcome, code, suppressed))
  }

  /**
   * Stores the call as a read of content, when its organization is known. Reads by keys and
   * operators are not stored.
   */
  beginRead(): void {
    if (!this.isByPerson) return
    this.#read = this.#findOrganization().then(() =>
      this.#trail.storeRead(this.#entry('succeeded', null, 0)),
    )
    // If the call fails, no code awaits this promise.
    this.#read.catch(() => undefined)
  }

  /** Whether the call is stored as a read, or will be. */
  get isRead(): boolean {
    return this.#read !== undefined
  }

  /** Resolves when the read is stored. A call that is not a read resolves at once. */
  async whenReadStored(): Promise<void> {
    await this.#read
  }

  /** Whether the caller gave no valid credentials. */
  get isAnonymous(): boolean {
    return this.#actor.id === null
  }

  /** Whether a person calls, not an application or the operator. */
  get isByPerson(): boolean {
    return this.#actor.kind === 'user'
  }

  /** Key of the limit of refused calls: the actor, or the address of an anonymous caller. */
  get countedBy(): string {
    const { kind, id } = this.#actor
    return id === null ? `address ${this.#details.origin?.address ?? ''}` : `${kind} ${id}`
  }

  async #findOrganization(): Promise<void> {
    const project_id = this.#project_id
    if (this.#organization_id !== null || project_id === null) return
    const organization_id = await this.#trail.findOrganization(project_id)
    if (organization_id === undefined) return
    this.#organization_id = organization_id
    this.#projectOwner = { project_id, organization_id }
  }

  #entry(outcome: AuditOutcome, code: string | null, suppressed: number): AuditEntry {
    const { recorded_at, action, resource_type, request_id, origin, user_agent } = this.#details
    const { kind: actor_kind, id: actor_id } = this.#actor
    return {
      organization_id: this.#organization_id,
      project_id: this.#project_id,
      recorded_at,
      action,
      outcome,
      code,
      actor_kind,
      actor_id,
      via: viaOf(actor_kind, user_agent),
      resource_type,
      resource_id: this.#resource_id,
      request_id,
      suppressed,
      origin,
      change: this.#change,
    }
  }
}

function viaOf(kind: ActorKind, user_agent: string | null): AuditEntry['via'] {
  if (kind === 'operator' || kind === 'job') return kind
  if (kind === 'command') return 'cli'
  return user_agent?.startsWith('looptrace-cli') ? 'cli' : 'api'
}

const calls = new AsyncLocalStorage<AuditedCall>()

/** Returns the audited call whose work is running; undefined outside of one. */
export function currentCall(): AuditedCall | undefined {
  return calls.getStore()
}

/** Runs the work of an audited call. */
export function runInCall<T>(call: AuditedCall, work: () => Promise<T>): Promise<T> {
  return calls.run(call, work)
}

/** Notes the values before the change of the running call, for its record. */
export function noteBefore(before: unknown): void {
  currentCall()?.noteChange({ before })
}

/** Notes the values after the change, for a call whose body does not have them. */
export function noteAfter(after: unknown): void {
  currentCall()?.noteChange({ after })
}

/**
 * Returns a trail that reads and writes in the scope of each entry's organization instead of the
 * scope of the call. A refused call has no scope.
 */
export function scopeTrail(trail: AuditTrail): AuditTrail {
  return {
    ...trail,
    findOrganization: (project_id) =>
      runInProject(project_id, () => trail.findOrganization(project_id)),
    append: (entry) => runForChain(entry.organization_id, () => trail.append(entry)),
  }
}

/** Runs work on the chain of an organization in its scope; null: the chain of the installation. */
export function runForChain<T>(organization_id: string | null, work: () => T): T {
  return organization_id === null
    ? runInInstallation('the chain of the installation', work)
    : runInOrganization(organization_id, work)
}
