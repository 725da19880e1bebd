import { newId } from '../../../kernel/ids.ts'
import { noteChanges, sql } from '../../../platform/relational/index.ts'
import type { Evidence } from '../incident-view.ts'
import type { Changed, IncidentEvent } from '../life-cycle/incident.ts'
import { announced, type Notice, noticesOf } from '../life-cycle/notices.ts'
import type { Message } from '../messages/message.ts'
import type { IncidentDb } from '../ports.ts'
import {
  addEvidence,
  changedRow,
  coreColumns,
  newRow,
  type Origin,
  type StoredIncident,
  toIncidentView,
  toInstant,
} from './incident-row.ts'
import { putRecords } from './records.ts'

/** A change of an incident to write. */
export type IncidentChange = {
  /** The incident as it was read or as the change before left it; undefined for a new one. */
  before: StoredIncident | undefined
  change: Changed
  /** Of the opening, and of the rule whose settings a message follows. */
  origin?: Origin | undefined
  evidence?: readonly Evidence[] | undefined
}

/** Time after which PostgreSQL ends a transaction whose process does nothing. */
const idle_ms_max = 10_000

/** The numbers of a saved transaction. */
export type Saved = { opened: number; messages: number }

/**
 * Locks the incidents of a project until the transaction ends, and returns the last number. All
 * that writes incidents locks them first, so that an opening is never lost and no two
 * transactions wait for each other. Nothing else may be locked after it.
 */
export async function lockIncidents(trx: IncidentDb, project_id: string): Promise<number> {
  // A process that was stopped inside the transaction must not hold up the others.
  await sql`set local idle_in_transaction_session_timeout = ${sql.lit(idle_ms_max)}`.execute(trx)
  await trx
    .insertInto('incident_numbers')
    .values({ project_id, last: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { last } = await trx
    .selectFrom('incident_numbers')
    .select('last')
    .where('project_id', '=', project_id)
    .forUpdate()
    .executeTakeFirstOrThrow()
  return last
}

/** Opens the incidents of a project in a transaction, which locks them until it ends. */
export async function openIncidents(
  trx: IncidentDb,
  { project_id, now_ms }: { project_id: string; now_ms: number },
): Promise<IncidentBook> {
  const last = await lockIncidents(trx, project_id)
  return new IncidentBook(trx, { project_id, now_ms, last })
}

/**
 * The incidents that a transaction reads and changes, with their events and messages. Changes are
 * made in memory, and `save` writes all of them.
 */
export class IncidentBook {
  readonly project_id: string
  readonly now_ms: number
  readonly #trx: IncidentDb
  readonly #rows = new Map<string, StoredIncident>()
  readonly #newest = new Map<string, string>()
  readonly #changed = new Set<string>()
  readonly #events: object[] = []
  readonly #messages: object[] = []
  readonly #firstNumber: number
  #number: number

  constructor(
    trx: IncidentDb,
    { project_id, now_ms, last }: { project_id: string; now_ms: number; last: number },
  ) {
    this.#trx = trx
    this.project_id = project_id
    this.now_ms = now_ms
    this.#number = last
    this.#firstNumber = last
  }

  /**
   * Reads the newest incident of each dedup key: the unresolved one, else the one resolved last. It
   * may be an older one that a person reopened.
   */
  async readNewest(keys: readonly string[]): Promise<void> {
    const missing = [...new Set(keys)].filter((key) => !this.#newest.has(key))
    if (missing.length === 0) return
    const rows = await this.#select()
      .distinctOn('dedup_key')
      .where(sql<boolean>`dedup_key = any(${missing})`)
      .orderBy('dedup_key')
      .orderBy(sql`(state = 'resolved')`)
      .orderBy('resolved_at', 'desc')
      .orderBy('number', 'desc')
      .execute()
    for (const row of rows) {
      this.#rows.set(row.id, row)
      this.#newest.set(row.dedup_key, row.id)
    }
  }

  /** Reads an incident. Returns undefined for an id of no incident of the project. */
  async read(id: string): Promise<StoredIncident | undefined> {
    return (await this.readAll([id]))[0]
  }

  /** Reads incidents; those that do not exist are missing. */
  async readAll(ids: readonly string[]): Promise<StoredIncident[]> {
    const rows = await this.#select()
      .where(sql<boolean>`id = any(${[...ids]}::uuid[])`)
      .orderBy('number')
      .execute()
    return this.#keep(rows)
  }

  /** Reads all unresolved incidents, in order of their numbers. */
  async readUnresolved(): Promise<StoredIncident[]> {
    const rows = await this.#select().where('state', '<>', 'resolved').orderBy('number').execute()
    return this.#keep(rows)
  }

  /** Returns the newest incident of a key; `readNewest` has read it. */
  newest(key: string): StoredIncident | undefined {
    const id = this.#newest.get(key)
    return id === undefined ? undefined : this.#rows.get(id)
  }

  /** Returns an incident as the last change left it. */
  latest(row: StoredIncident): StoredIncident {
    return this.#rows.get(row.id) ?? row
  }

  /** Records a change with its events and messages. Returns the incident after it. */
  record({ before, change: given, origin, evidence = [] }: IncidentChange): StoredIncident {
    const change = announced(given)
    const row = before ?? this.#open(change, origin)
    const after = changedRow(row, { ...change, evidence }, this.now_ms)
    this.#rows.set(after.id, after)
    // A comment on an incident of long ago does not make it the newest one.
    if (after.state !== 'resolved') this.#newest.set(after.dedup_key, after.id)
    this.#changed.add(after.id)
    change.events.forEach((event, at) => {
      this.#events.push(this.#toEvent(after, event, row.last_seq + 1 + at))
    })
    for (const notice of noticesOf(change)) {
      const at = change.events.findIndex(({ type }) => type === notice.reason)
      const event = change.events[at]
      if (event === undefined) continue
      this.#addMessages({ row: after, notice, event, event_seq: row.last_seq + 1 + at, origin })
    }
    return after
  }

  /** Adds evidence to an incident that does not change. */
  witness(row: StoredIncident, evidence: readonly Evidence[]): void {
    const before = this.latest(row)
    this.#rows.set(row.id, { ...before, evidence: addEvidence(before.evidence, evidence) })
    this.#changed.add(row.id)
  }

  /** Sets when the timers of an incident are due next. */
  schedule(row: StoredIncident, timer_at: string | null): void {
    this.#rows.set(row.id, { ...this.latest(row), timer_at })
    this.#changed.add(row.id)
  }

  /** Writes all changes, in four statements if they are not very many. */
  async save(): Promise<Saved> {
    const rows = [...this.#changed].flatMap((id) => this.#rows.get(id) ?? [])
    const opened = this.#number - this.#firstNumber
    if (opened > 0) {
      await this.#trx
        .updateTable('incident_numbers')
        .set({ last: this.#number })
        .where('project_id', '=', this.project_id)
        .execute()
    }
    // Older incidents first: one resolves before the next one of its key opens.
    const sorted = rows.toSorted((one, other) => one.number - other.number)
    await putRecords(this.#trx, 'incidents', sorted, { key: ['id'], update: changing })
    const kind = 'incident' as const
    const { project_id } = this
    await noteChanges(
      this.#trx,
      sorted.map(({ id, version }) => ({ project_id, id, version, kind })),
    )
    await putRecords(this.#trx, 'incident_events', this.#events)
    await putRecords(this.#trx, 'notification_outbox', this.#messages, {
      key: ['incident_id', 'event_seq', 'channel'],
    })
    return { opened, messages: this.#messages.length }
  }

  #select() {
    return this.#trx.selectFrom('incidents').selectAll().where('project_id', '=', this.project_id)
  }

  /** Keeps rows that were read; those that this transaction changed are newer. */
  #keep(rows: readonly StoredIncident[]): StoredIncident[] {
    for (const row of rows) if (!this.#rows.has(row.id)) this.#rows.set(row.id, row)
    return rows.map((row) => this.latest(row))
  }

  #open({ incident }: Changed, origin: Origin | undefined): StoredIncident {
    if (origin === undefined) throw new Error('a new incident needs the rule that opens it')
    this.#number += 1
    const identity = { id: newId(), project_id: this.project_id, number: this.#number }
    return { ...newRow(origin, identity), ...coreColumns(incident, this.now_ms) }
  }

  #toEvent(row: StoredIncident, event: IncidentEvent, seq: number): object {
    const { type, at_ms, actor, note = null, notify = [] } = event
    return {
      incident_id: row.id,
      seq,
      project_id: this.project_id,
      type,
      at: toInstant(at_ms),
      recorded_at: toInstant(this.now_ms),
      actor_type: actor.type,
      actor_id: actor.id,
      note,
      notify,
    }
  }

  #addMessages({ row, notice, event, event_seq, origin }: Announcement): void {
    const at = toInstant(notice.at_ms)
    const now = toInstant(this.now_ms)
    const note = event.actor.type === 'rule' ? null : (event.note ?? null)
    const message: Message = { reason: notice.reason, at, note, incident: toIncidentView(row) }
    for (const channel of notice.channels) {
      this.#messages.push({
        id: newId(),
        project_id: this.project_id,
        incident_id: row.id,
        event_seq,
        channel,
        reason: notice.reason,
        rule_name: origin?.rule.name ?? row.rule_name,
        grouping: origin?.rule.grouping ?? row.grouping,
        message,
        late: notice.reason === 'opened' && row.core['late'] === true,
        state: 'waiting',
        attempts: 0,
        next_attempt_at: now,
        created_at: now,
      })
    }
  }
}

type Announcement = {
  row: StoredIncident
  notice: Notice
  event: IncidentEvent
  event_seq: number
  origin: Origin | undefined
}

/** Columns of an incident that changes set. */
const changing = [
  ...['state', 'severity', 'rank', 'assignee', 'suppressed', 'flapping', 'orphaned', 'shadow'],
  ...['version', 'last_seq', 'moved', 'first_acknowledged_at', 'acknowledged_at', 'resolved_at'],
  ...['updated_at', 'timer_at', 'core', 'evidence'],
]
