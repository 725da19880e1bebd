import type { Logger } from '../../../platform/telemetry/index.ts'
import { scrubbed } from '../exchanges/index.ts'
import type { IngestMeters } from './meters.ts'
import type { ReadMessage } from './read-messages.ts'
import type { Refused } from './write-messages.ts'

/** Acknowledges what is stored and sets apart what is at fault, each message by itself. */
export async function settleMessages(
  { logger, meters }: { logger: Logger; meters: IngestMeters },
  messages: readonly ReadMessage[],
  refused: readonly Refused[],
): Promise<void> {
  const reasons = new Map<string, string[]>()
  for (const { delivery, faults } of messages) {
    if (faults.length > 0) reasons.set(delivery.id, [...faults])
  }
  for (const { message, reason } of refused) {
    const known = reasons.get(message.delivery.id)
    if (known) known.push(reason)
    else reasons.set(message.delivery.id, [reason])
  }
  await Promise.all(
    messages.map(async ({ delivery }) => {
      const faults = reasons.get(delivery.id)
      if (faults === undefined) return delivery.ack()
      const reason = reasonFrom(faults)
      logger.error({ message_id: delivery.id, reason }, 'a message was set apart')
      await delivery.bury(reason)
      meters.poisoned.inc()
    }),
  )
}

const faultsShown_max = 3
const reason_chars_max = 480

function reasonFrom(faults: readonly string[]): string {
  const more = faults.length - faultsShown_max
  const shown = faults.slice(0, faultsShown_max).join('; ')
  return scrubbed(more > 0 ? `${shown}; and ${more} more` : shown).slice(0, reason_chars_max)
}
