import { expect } from 'vitest'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { eventually } from './eventually.ts'
import {
  expectBalanced,
  expectReceipts,
  type PathAccount,
  type Sent,
  storedOf,
} from './ingest-account.ts'
import { type IngestLoadOptions, startIngestLoad } from './ingest-load.ts'
import type { IngestTargets } from './ingest-senders.ts'
import {
  type IngestProcesses,
  type LedgerPath,
  ledgerSums,
  untilIngestQuiet,
} from './ledger-sums.ts'
import { startLoad } from './load.ts'
import type { Reader } from './roll-ups.ts'

/** Addresses for the load and for reading its account. */
export type IngestShape = IngestTargets & {
  processes: () => IngestProcesses
  reader: () => Reader
  /** Opens the tables; the service may be down while the test reads them. */
  withColumnar<T>(work: (columnar: ColumnarServer) => Promise<T>): Promise<T>
}

/** Running clients of every ingest path. */
export type IngestRun = {
  /** Waits for this many more accepted parcels and calls. */
  until(more: number): Promise<void>
  /** Ends the load, waits until everything is settled, and expects the account to balance. */
  expectBalance(title: string): Promise<Record<LedgerPath, PathAccount>>
  /** Ends the load. */
  stop(): Promise<Sent>
}

export type IngestRunOptions = Partial<Pick<IngestLoadOptions, 'clients' | 'padding_bytes'>> & {
  run: string
  /**
   * Whether some requests contain nothing valid; true by default. Until the edge has reported such
   * a request to the ledger, within a second, only the edge knows of it: if it is killed, the
   * request is unknown.
   */
  all_bad?: boolean
  /** Clients of the proxy; 2 by default. */
  callers?: number
  /** Whether calls may get no answer, because their edge is killed. Answered ones are never lost. */
  calls_may_fail?: boolean
}

const progress_ms_max = 60_000
const parcels_max = 40_000

/** Starts exporters, clients of canonical ingest and clients of the proxy. */
export function startIngestRun(shape: IngestShape, options: IngestRunOptions): IngestRun {
  const { run, all_bad = true, callers = 2, padding_bytes = 0 } = options
  const from_ms = Date.now()
  const { clients = { protobuf: 2, json: 1, grpc: 2, api: 2 } } = options
  const parcels = startIngestLoad({ ...shape, run, clients, parcels_max, all_bad, padding_bytes })
  const calls = startLoad({
    base_url: shape.otlp_url,
    project_key: shape.project_key,
    run,
    clients: callers,
    calls_max: parcels_max,
  })
  const done = () => parcels.taken() + calls.calls.filter(({ complete }) => complete).length
  const stop = async (): Promise<Sent> => {
    const [sentParcels, sentCalls] = await Promise.all([parcels.stop(), calls.stop()])
    const window = { from_ms, to_ms: Date.now() + 1 }
    return { run, parcels: sentParcels, calls: sentCalls, window }
  }
  return {
    until: async (more) => {
      const enough = done() + more
      const timeout_ms = progress_ms_max
      await eventually(`${more} more are taken`, () => done() >= enough, { timeout_ms })
    },
    stop,
    expectBalance: async (title) => {
      const sent = await stop()
      await untilIngestQuiet(shape.processes())
      const reader = shape.reader()
      const ledger = await ledgerSums(reader, sent.window)
      const stored = await shape.withColumnar((columnar) => storedOf(columnar, sent))
      const held = { ...stored, ledger }
      const accounts = await expectBalanced(title, { sent, held, reader })
      expect(sent.parcels.filter(({ told }) => told.length === 0)).toEqual([])
      expect(accounts.proxy).toMatchObject({ lost: 0, ledger_lost: 0 })
      if (options.calls_may_fail !== true) expect(accounts.proxy.untold).toBe(0)
      await expectReceipts(reader, sent)
      return accounts
    },
  }
}
