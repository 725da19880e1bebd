import { sleep } from '../../src/kernel/time.ts'
import { type Parcel, type ParcelWay, parcelOf } from './ingest-parcels.ts'
import {
  grpcSender,
  httpSender,
  type IngestTargets,
  type SendParcel,
  type Told,
} from './ingest-senders.ts'

/** What the clients of an ingest load do. Together they send no more than `parcels_max` parcels. */
export type IngestLoadOptions = IngestTargets & {
  run: string
  /** Clients of each way; each sends one parcel after the other. */
  clients: Partial<Record<ParcelWay, number>>
  parcels_max: number
  /** Between two parcels of a client. */
  pause_ms?: number
  padding_bytes?: number
  /** Whether now and then a parcel has nothing valid in it. */
  all_bad?: boolean
  /** A parcel that nobody took for so long is given up; its client goes on with the next. */
  retry_ms_max?: number
}

/** A parcel and what its client was told, try by try. */
export type SentParcel = Parcel & { told: Told[] }

/** Clients at work. */
export type IngestLoad = {
  /** Every parcel that was begun. */
  readonly parcels: readonly SentParcel[]
  /** How many of them were taken. */
  taken(): number
  /** Ends with no parcel half sent: what was begun is sent until it is taken or given up. */
  stop(): Promise<readonly SentParcel[]>
}

const retryPause_ms = 150
const allBadEvery = 12

/**
 * Starts clients that do what exporters do: what is refused for now or not answered is sent again,
 * the very same bytes, until it is taken. A canonical batch keeps its idempotency key by that.
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

/** Whether its client was told that it is accepted. */
export function isTaken({ told }: SentParcel): boolean {
  return told.at(-1)?.outcome === 'taken'
}

/** A batch whose taker died is free again after half a minute; nothing takes longer. */
const retry_ms_default = 60_000

async function sendUntilTaken(
  send: SendParcel,
  parcel: SentParcel,
  retry_ms_max = retry_ms_default,
): Promise<void> {
  const until_ms = Date.now() + retry_ms_max
  for (;;) {
    const told = await send(parcel)
    parcel.told.push(told)
    if (told.outcome === 'taken' || told.outcome === 'wrong' || Date.now() > until_ms) return
    await sleep(retryPause_ms)
  }
}
