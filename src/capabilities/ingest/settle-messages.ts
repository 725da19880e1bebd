import { newId } from '../../kernel/ids.ts'
import type { Clock } from '../../kernel/time.ts'
import type { LedgerEntry } from '../../model/ledger-entry.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import type { LedgerMeters } from '../ledger/index.ts'
import { scrubbed } from '../records/exchanges/index.ts'
import type { LedgerStore } from '../storage/index.ts'
import type { ReadMessage } from './message-rows.ts'
import type { IngestMeters } from './meters.ts'
import { settledEntries } from './settled-entries.ts'
import type { Refused } from './write-messages.ts'

/** What settling works on. */
export type SettlePorts = {
  ledger: Pick<LedgerStore, 'insertEntries'>
  /** Told of settled entries of canonical batches before their messages are acknowledged. */
  settleRequests?: ((entries: readonly LedgerEntry[]) => Promise<void>) | undefined
  clock: Clock
  logger: Logger
  meters: IngestMeters
  items: LedgerMeters
}

/** Messages that are written, as far as they can be, and what the ledger says of them. */
export type Settlement = {
  messages: readonly ReadMessage[]
  /** By message id: why it is set apart. */
  reasons: ReadonlyMap<string, string>
  entries: LedgerEntry[]
  token: string
}

/** Says of each message what became of it. */
export function settlementOf(
  messages: readonly ReadMessage[],
  refused: readonly Refused[],
  clock: Clock,
): Settlement {
  const reasons = reasonsOf(messages, refused)
  const settled_at_ms = clock.now_ms()
  const entries = messages.flatMap((message) => {
    const { id } = message.delivery
    const mine = refused.length === 0 ? refused : refused.filter((one) => one.message === message)
    return settledEntries(message, mine, { settled_at_ms, reason: reasons.get(id) ?? '' })
  })
  return { messages, reasons, entries, token: newId() }
}

/** Writes the ledger and tells requests. Repeating it is harmless. Rejects with a store's error. */
export async function recordSettlement(ports: SettlePorts, settlement: Settlement): Promise<void> {
  const { entries, token } = settlement
  if (entries.length === 0) return
  await ports.ledger.insertEntries(entries, { token })
  if (ports.settleRequests === undefined) return
  const ofRequests = entries.filter(({ path, side }) => path === 'api' && side === 'settled')
  if (ofRequests.length > 0) await ports.settleRequests(ofRequests)
}

/** Acknowledges what is stored and sets apart what is at fault, each message by itself. */
export async function settleMessages(ports: SettlePorts, settlement: Settlement): Promise<void> {
  const { messages, reasons, entries } = settlement
  countItems(ports.items, entries)
  await Promise.all(
    messages.map(async ({ delivery }) => {
      const reason = reasons.get(delivery.id)
      if (reason === undefined) return delivery.ack()
      ports.logger.error({ message_id: delivery.id, reason }, 'a message was set apart')
      await delivery.bury(reason)
      ports.meters.poisoned.inc()
    }),
  )
}

function reasonsOf(
  messages: readonly ReadMessage[],
  refused: readonly Refused[],
): Map<string, string> {
  const faults = new Map<string, string[]>()
  for (const { delivery, faults: found } of messages) {
    if (found.length > 0) faults.set(delivery.id, [...new Set(found.map(({ reason }) => reason))])
  }
  for (const { message, reason } of refused) {
    const known = faults.get(message.delivery.id)
    if (known) known.push(reason)
    else faults.set(message.delivery.id, [reason])
  }
  const reasons = new Map<string, string>()
  for (const [id, found] of faults) reasons.set(id, reasonFrom(found))
  return reasons
}

const faultsShown_max = 3
const reason_chars_max = 480

function reasonFrom(faults: readonly string[]): string {
  const more = faults.length - faultsShown_max
  const shown = faults.slice(0, faultsShown_max).join('; ')
  return scrubbed(more > 0 ? `${shown}; and ${more} more` : shown).slice(0, reason_chars_max)
}

/** Entries of one project and path come together: they are counted at once. */
function countItems(items: LedgerMeters, entries: readonly LedgerEntry[]): void {
  let stored = 0
  for (const [at, entry] of entries.entries()) {
    if (entry.side !== 'settled') continue
    const { project_id, path, rejected } = entry
    stored += entry.stored
    for (const reason in rejected) {
      items.count({ project_id, path, outcome: 'rejected', reason }, rejected[reason] ?? 0)
    }
    const next = entries[at + 1]
    if (next?.side === 'settled' && next.project_id === project_id && next.path === path) continue
    items.count({ project_id, path, outcome: 'stored', reason: '' }, stored)
    stored = 0
  }
}
