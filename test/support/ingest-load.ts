import { sleep } from '../../src/kernel/time.ts'
import { type Parcel, type ParcelWay, parcelOf } from './ingest-parcels.ts'
import {
  grpcSender,
  httpSender,
  type IngestTargets,
  type SendParcel,
  type Told,
} from './ingest-senders.ts'

/** Behaviour of the clients of an ingest load. Together they send at most `parcels_max` parcels. */
export type IngestLoadOptions = IngestTargets & {
  run: string
  /** Clients per ingest path; each sends one parcel after another. */
  clients: Partial<Record<ParcelWay, number>>
  parcels_max: number
  /** Pause between two parcels of a client. */
  pause_ms?: number
  padding_bytes?: number
  /** Whether some parcels contain nothing valid. */
  all_bad?: boolean
  /** Time after which a client gives up a parcel that was not accepted, and sends the next. */
  retry_ms_max?: number
}

/** A parcel and the answers to its attempts. */
export type SentParcel = Parcel & { told: Told[] }

/** Running clients. */
export type IngestLoad = {
  /** Every parcel that was started. */
  readonly parcels: readonly SentParcel[]
  /** Number of accepted parcels. */
  taken(): number
  /** Ends the clients; each parcel in progress is first sent until it is accepted or given up. */
  stop(): Promise<readonly SentParcel[]>
}

const retryPauseMs = 150
const allBadEvery = 12

/**
 * Starts clients that behave like exporters: they send refused or unanswered requests again with
 * the same bytes until they are accepted. A canonical batch thereby keeps its idempotency key.
 */
export function startIngestLoad(options: IngestLoadOptions): IngestLoad {
  const parcels: SentParcel[] = []
  const stopping = new AbortController()
  const byHttp = httpSender(options)
  const byGrpc = grpcSender(options)
  const { all_bad = false, pause_ms = 100, padding_bytes = 0, run } = options
  const work = async (way: ParcelWay, client: number) => {
    const send = way === 'grpc' ? byGrpc.send : byHttp
    for (let number = 0; !stopping.signal.aborted; number += 1) {
      if (parcels.length >= options.parcels_max) return
      const isBad = all_bad && number % allBadEvery === allBadEvery - 1
      const about = { way, run, client, number, padding_bytes, all_bad: isBad }
      const parcel: SentParcel = { ...parcelOf(about), told: [] }
      parcels.push(parcel)
      await sendUntilTaken(send, parcel, options.retry_ms_max)
      await sleep(pause_ms, stopping.signal)
    }
  }
  const ways = Object.entries(options.clients) as [ParcelWay, number][]
  const clients = ways.flatMap(([way, count]) => Array<ParcelWay>(count).fill(way))
  const ended = Promise.all(clients.map((way, client) => work(way, client)))
  return {
    parcels,
    taken: () => parcels.filter(isTaken).length,
    stop: async () => {
      stopping.abort()
      await ended
      byGrpc.close()
      return parcels
    },
  }
}

/** Whether its client got an accepting answer. */
export function isTaken({ told }: SentParcel): boolean {
  return told.at(-1)?.outcome === 'taken'
}

/** A batch whose server process died is free again after half a minute; nothing takes longer. */
const retry_ms_default = 60_000

async function sendUntilTaken(
  send: SendParcel,
  parcel: SentParcel,
  retry_ms_max = retry_ms_default,
): Promise<void> {
  const until_ms = Date.now() + retry_ms_max
  for (;;) {
    const answer = await send(parcel)
    parcel.told.push(answer)
    if (answer.outcome === 'taken' || answer.outcome === 'wrong' || Date.now() > until_ms) return
    await sleep(retryPauseMs)
  }
}
