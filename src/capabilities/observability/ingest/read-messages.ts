import type { Exchange } from '../../../model/exchange.ts'
import { decodeFrame } from '../../../model/exchange-frame.ts'
import type { Observation } from '../../../model/observation.ts'
import type { Delivery } from '../../../platform/queue/index.ts'
import { exchangeToObservation, factsFault, type MappingContext } from '../exchanges/index.ts'

/** A queue message as rows. What could not become a row is in `faults`: it is to be set apart. */
export type ReadMessage = {
  delivery: Delivery
  rows: Observation[]
  faults: string[]
  /** What the rows' content takes, about. */
  content_bytes: number
}

/** Reads a queue message. Never throws; a message that is no frame is all fault. */
export function readMessage(
  delivery: Delivery,
  context: MappingContext & { frame_bytes_max: number },
): ReadMessage {
  const rows: Observation[] = []
  const faults: string[] = []
  let content_bytes = 0
  try {
    const exchanges = decodeFrame(delivery.data, context.frame_bytes_max)
    for (const [at, exchange] of exchanges.entries()) {
      const fault = factsFault(exchange.facts)
      if (fault === undefined) {
        const row = rowOf(exchange, delivery.id, context)
        content_bytes += row.input.length + row.output.length
        rows.push(row)
      } else faults.push(`exchange ${at}: ${fault}`)
    }
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error))
  }
  return { delivery, rows, faults, content_bytes }
}

const nothing = new Uint8Array(0)

/** A body that makes the mapping fail costs the content, not the record of the call. */
function rowOf(exchange: Exchange, message_id: string, context: MappingContext): Observation {
  try {
    return exchangeToObservation(exchange, message_id, context)
  } catch (error) {
    const facts = { ...exchange.facts, content_state: 'dropped' as const }
    const bare = { facts, request: nothing, response: nothing }
    const row = exchangeToObservation(bare, message_id, context)
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return { ...row, attributes: { ...row.attributes, 'mapping.error': reason.slice(0, 512) } }
  }
}
